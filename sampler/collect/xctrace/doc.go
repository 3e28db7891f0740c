// Package xctrace takes samples by running xctrace, the command of Xcode's Instruments. [Start] makes xctrace record
// all processes, and [Recording.Stop] ends the recording. [Recording.WriteText] makes xctrace export the recording
// (export.go), and writes it in perf script's format.
//
// No macOS was available where gasm was written, so this package was never run there. It follows what public projects
// do and show:
//
//   - xctrace does not need root. It records all processes, because it can't follow a command's children. The
//     samples of the command are recognized afterwards, by their pids, as with DTrace.
//   - Xcode 26 can export a recording that was made with an instrument (`--instrument "Time Profiler"`). It may be
//     unable to export one that was made with a template.
//   - xctrace reports that it has begun to record in two ways: by a notification (--notify-tracing-started), which
//     notifyutil waits for, and by a line on stdout. The line may come late if stdout is a pipe. Start uses
//     whichever comes first.
//   - SIGINT ends the recording. xctrace then saves it, which can take minutes.
//   - The times of samples count from the recording's start. The table time-info has the time of the start by
//     mach_absolute_time, and the length of that clock's ticks in ns. [Recording.WriteText] adds the difference between
//     CLOCK_MONOTONIC and that clock. If the table is missing, it uses the start-date in the table of contents, a wall
//     clock time in ms.
package xctrace
