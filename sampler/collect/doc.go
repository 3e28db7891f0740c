// Package collect takes samples of running processes: gasm asks the kernel itself, or starts an
// external sampler, stops it, and saves the text that it prints. Package sampler reads these
// texts.
//
// There are four samplers:
//
//   - Native sampling: [StartNative] opens events on a process that is held before its exec,
//     [AttachNative] on one that already runs (native_linux.go). drain_linux.go turns the
//     kernel's records into text, and kallsyms_linux.go names the kernel's functions. A [Stream]
//     hands out the samples while they are taken.
//   - perf: [StartPerf] attaches perf to a process that is held before its exec,
//     [Perf.Stop] ends the recording, and [Perf.WriteText] turns it into text
//     (perf.go; perfrecord.go starts perf, perfwrite.go writes the text).
//   - DTrace: [StartDTrace] has DTrace sample the whole machine, and [DTrace.Stop] ends that
//     (dtrace.go; dtracecopy.go saves what DTrace prints).
//   - xctrace: [StartXCTrace] has Xcode's Instruments record all processes, [XCTrace.Stop] ends
//     that, and [XCTrace.WriteText] has the recording exported and writes it as perf script does
//     (xctrace.go; xctraceexport.go).
//
// [ChooseRate] (rate.go; cost_linux.go measures what a sample costs) chooses how often to sample
// when the user does not say. With [Options].Drawn the frequency of a recording is then drawn from 3 to
// 10 % around that: the timer of a clock event has a fixed period, and a program with the same one would
// be sampled in the same part of its work again and again. A thread that was in each of two methods for
// half of every 2 ms was measured with 0 to 96 % for one of them at 501 Hz, and with 48 to 51 % at drawn
// frequencies. perf record -F behaves like the former. DTrace is not asked for a drawn frequency, because
// its probe has the frequency in its name, which would then differ from capture to capture.
//
// The package prints nothing.
//
// # Native sampling
//
// Package sampler/perfevent has the kernel's interface, and its traps. The drain empties the
// kernel's buffers once a second, or as often as a Stream asks for, or when one of
// them is half full. It looks up all names at that time: a thread's in the records of new threads
// and names, a function's in the records of mappings (package native), the kernel's in
// /proc/kallsyms. So the text is complete as soon as the command has ended. Some traps:
//
//   - perf's tables have names of events that the kernel does not know
//     (mem_load_retired.l1_miss). Such an event needs perf.
//   - The timer of cpu-clock starts afresh with each thread, with a whole period. A thread
//     that lives for less than that is never sampled, neither by perf nor by gasm.
//   - EACCES comes from the kernel's rules (perf_event_paranoid, another user's process), EPERM
//     from a filter of system calls. If the user may not see the kernel, gasm
//     samples user space only, names the event with u as perf does, and says so.
//   - The stubs of imported functions (memset@plt) have no names, because no symbol table
//     has them.
//
// # Running perf
//
// perf follows the held process's first thread (-t with --inherit), and all threads
// and processes that descend from it. perf is not the parent of the command: when perf
// fails or dies, the command goes on. StartPerf returns when perf has confirmed that
// it samples, so no sample of the command is missed. Some traps:
//
//   - On a machine without a counter of cycles, perf asked for cycles opens a clock and
//     says nothing: perf 6.1 opens cpu-clock, perf 6.12 and 7.2 task-clock. gasm sees that
//     there is no counter and asks for cpu-clock itself, so all versions do the same.
//     perfevents.go still compares what perf opened, which is in the header of
//     perf.data, with what it was asked for: [Perf.Events] and [Perf.Notes] report it.
//   - perf 7 leaves out events that it can't open and samples the rest. An older perf
//     refuses the whole list, and so does StartPerf.
//   - If the user may not see the kernel, perf samples user space only
//     and says nothing. The header shows that too.
//   - EPERM and EACCES have the same long text about perf_event_paranoid. The sysctl
//     causes EACCES. A seccomp filter causes EPERM, and then the text has "No
//     permission to enable".
//   - A perf that is killed, or whose disk is full, leaves a file that says it holds 0
//     bytes of data, and `perf script` prints nothing of it. Stop completes the
//     header, so that all that has reached the disk can be read. What was still in
//     the ring buffers (half a MiB per CPU) is lost.
//   - perf ends by itself when the last process that it follows has ended, not when
//     the first one has. It also ends when gasm is killed, so that it does not fill the disk.
//   - perf without room for the first page of its data ends without a word.
//   - A sampler that somebody has stopped (SIGSTOP) does not handle a signal to end, so
//     Stop wakes it up. If it still does not end, the user is told after two seconds, and it
//     is killed after ten.
//
// # Running DTrace
//
// DTrace runs [DTraceProgram] and samples all processes. Which samples belong to the
// command is found out afterwards, by their pids: on macOS a JVM can't be started
// under DTrace, and on both systems DTrace would miss a JVM's children. DTrace needs
// root, or sudo -n. StartDTrace returns when the BEGIN probe has printed its mark,
// Stop when the END probe has. Some traps:
//
//   - One SIGTERM ends DTrace: it prints the samples that it has, then the END probe's
//     line. A second SIGTERM loses samples. A DTrace that prints nothing for ten seconds
//     after the first one is killed. After the END probe's line DTrace takes up to ten
//     seconds to end if all CPUs are busy; [DTrace.Wait] waits for that.
//   - DTrace for Linux wakes up for each sample that it prints, and samples itself
//     doing so. So the program leaves DTrace itself out, and gasm fetches DTrace's
//     text from a small pipe four times a second. In between DTrace sleeps and its
//     buffers fill. It then takes 3 to 17 % of a core at 1001 to 1997 Hz on two CPUs.
//     Samples of the kernel cost the most, because DTrace names their functions.
//   - When gasm is killed, nobody reads the pipe. The next sample ends DTrace by
//     SIGPIPE, also when it runs under sudo.
//   - DTrace goes on when its text can't be written, and sudo's permission may have
//     run out when DTrace is to be stopped. Both are a [StoppedError], with the
//     samples until then in the file.
//   - When a buffer (4 MB per CPU) has no room for samples, DTrace drops them and says
//     so on stderr while it samples: [DTrace.Lost].
//   - A DTrace for Linux that starts while another one starts or ends may find its own
//     BEGIN probe gone (this happened to about one in 25). gasm starts it again.
//   - Linux has no profile probe above 5000 Hz. DTrace then refuses, and does not choose
//     another frequency.
//   - SystemTap installs a script named dtrace too, which prints its usage on stdout.
//   - When a seccomp filter blocks bpf, DTrace complains of the limit of locked memory,
//     which does not apply to root.
//
// # Pauses
//
// A sampler can pause. In a measurement, samples began again 2 ms after Resume.
//
//   - [Native.Pause] disables the events. The kernel does not report mappings and threads
//     together with a disabled event, so with [Options].Pauses there is one more event, which
//     never happens and stays enabled.
//   - [Perf.Pause] disables perf's events by name, through --control, so that perf's own
//     dummy event stays enabled for the same reason.
//   - [DTrace.Pause] lets DTrace go on and leaves its samples out, by their times, because
//     DTrace would take seconds to start again.
//
// # Running xctrace
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
//     waits for), and by a line on stdout, which may come late when stdout is a pipe. StartXCTrace
//     takes whichever comes first.
//   - SIGINT ends it. It then saves the recording, which can take minutes.
//   - The times of samples count from the recording's start. The table time-info has that moment by
//     mach_absolute_time, and the length of its ticks in ns; [XCTrace.WriteText] adds the difference
//     between CLOCK_MONOTONIC and that clock. Without the table it uses the start-date of the table of
//     contents, which is a time of the wall clock, in ms.
package collect
