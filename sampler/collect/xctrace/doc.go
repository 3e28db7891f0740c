// Package xctrace takes samples by running xctrace, the command of Xcode's Instruments: [Start] has it
// record all processes, [Recording.Stop] ends that, and [Recording.WriteText] has the recording
// exported (export.go) and writes it as perf script does.
//
// No macOS was available where gasm was written: this follows what public projects do and show, and
// was never run.
//
//   - xctrace needs no root. It records all processes, because it does not follow a command's
//     children. Which samples belong to the command is found out afterwards, by their pids, as with
//     DTrace.
//   - Xcode 26 exports what a bare instrument records, `--instrument "Time Profiler"`. It may not
//     export a recording made with a template.
//   - xctrace announces that it records by a notification (--notify-tracing-started, which notifyutil
//     waits for), and by a line on stdout, which may come late when stdout is a pipe. Start
//     takes whichever comes first.
//   - SIGINT ends it. It then saves the recording, which can take minutes.
//   - The times of samples count from the recording's start. The table time-info has that moment by
//     mach_absolute_time, and the length of its ticks in ns; [Recording.WriteText] adds the difference
//     between CLOCK_MONOTONIC and that clock. Without the table it uses the start-date of the table of
//     contents, which is a time of the wall clock, in ms.
package xctrace
