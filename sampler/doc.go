// Package sampler gets program counters out of a running command: gasm asks the kernel
// itself, or starts an external sampler, stops it, and parses the text that it prints.
//
// There are four samplers: native sampling, perf, DTrace and xctrace. Each external one has a part
// that runs the tool and a part that reads its text; native sampling writes the text that
// perf would have written. The readers need no tool, so they also read a text that was
// saved elsewhere, as JMH's perfasm and dtraceasm do.
//
//   - StartNative opens events on a process that is held before its exec, AttachNative on
//     one that runs (native_linux.go; drain_linux.go makes text of what the kernel tells,
//     perftext.go writes the lines, kallsyms_linux.go names the kernel's functions). A Stream
//     gives the samples while they are taken.
//   - [StartPerf] attaches perf to a process that is held before its exec,
//     [Perf.Stop] ends the recording, and [Perf.WriteText] turns it into text
//     (perf.go; perfrecord.go starts perf, perfwrite.go writes the text).
//   - A [PerfReader] gives one [Sample] for each line of that text (perfscript.go;
//     perfnames.go for symbols and modules).
//   - [StartDTrace] has DTrace sample the whole machine, [DTrace.Stop] ends that
//     (dtrace.go; dtracecopy.go saves what DTrace prints).
//   - A [DTraceReader] reads DTrace's text (dtracetext.go).
//   - [StartXCTrace] has Xcode's Instruments record all processes, [XCTrace.Stop] ends that, and
//     [XCTrace.WriteText] has the recording exported and writes it as perf script does (xctrace.go;
//     xctraceexport.go).
//   - An [XCTraceReader] reads such an export (xctracetext.go; xctracexml.go for the tags,
//     xctraceids.go for values that are meant by number).
//
// [NewReader] takes the reader for the sampler that a text looks like. The readers of lines
// share textreader.go: a text is parsed in chunks, several at a time, and its
// records come in the text's order.
//
// An [Event] (event.go) is what makes a sampler take a sample. [ChooseRate] (rate.go;
// cost_linux.go measures what a sample costs) chooses how often, for a user who does
// not say.
//
// The package prints nothing.
//
// # Native sampling
//
// Package perfevent has the kernel's interface, and its traps. The drain empties the
// kernel's buffers once a second, or as often as a Stream asks for, or when one of
// them is half full. All names are
// found then: a thread's by the records of new threads and names, a function's by the
// records of mappings (package native), the kernel's by /proc/kallsyms. So the text is
// complete as soon as the command has ended. Some traps:
//
//   - perf's tables have names of events that the kernel does not know
//     (mem_load_retired.l1_miss): those are for perf.
//   - The timer of cpu-clock begins anew with each thread, with a whole period. A thread
//     that lives for less than that is never sampled, by perf as little as by gasm.
//   - EACCES is of the kernel's rules (perf_event_paranoid, another user's process), EPERM
//     of a filter of system calls. Asked for the kernel by a user who may not see it, gasm
//     samples user space only, names the event with u as perf does, and says so.
//   - The stubs of imported functions (memset@plt) have no names, because no symbol table
//     has them.
//
// # Running perf
//
// perf follows the held process's first thread (-t with --inherit), and all threads
// and processes that come of it. perf is not the parent of the command: when perf
// fails or dies, the command goes on. StartPerf returns when perf has confirmed that
// it samples, so no sample of the command is missed. Some traps:
//
//   - On a machine without a counter of cycles, perf asked for cycles opens a clock and
//     says nothing: perf 6.1 cpu-clock, perf 6.12 and 7.2 task-clock. gasm sees that
//     there is no counter and asks for cpu-clock itself, so all versions do the same.
//     perfevents.go still compares what perf opened, which is in the header of
//     perf.data, with what it was asked for: [Perf.Events] and [Perf.Notes] tell.
//   - perf 7 leaves out events that it can't open and samples the rest. An older perf
//     refuses the whole list, and so does StartPerf.
//   - Asked for the kernel by a user who may not see it, perf samples user space only
//     and says nothing. The header tells that too.
//   - EPERM and EACCES have the same long text about perf_event_paranoid. The sysctl
//     gives EACCES. A seccomp filter gives EPERM, and then the text has "No
//     permission to enable".
//   - A perf that is killed, or whose disk is full, leaves a file that says it holds 0
//     bytes of data, and `perf script` prints nothing of it. Stop completes the
//     header, so that all that has reached the disk can be read. What was still in
//     the ring buffers (half a MiB per CPU) is lost.
//   - perf ends by itself when the last process that it follows has ended, not when
//     the first one has; and when gasm is killed, so that it does not fill the disk.
//   - perf without room for the first page of its data ends without a word.
//   - A sampler that somebody has stopped (SIGSTOP) does not take a signal to end, so
//     Stop wakes it up. One that does not end all the same is told of after two seconds
//     and killed after ten.
//
// # perf's text
//
// `perf script --ns -F comm,pid,tid,time,event,ip,sym,dso` prints a line per sample;
// comm, the thread's name, may be left out:
//
//	C2 CompilerThre 24997/25003  1884.742374599: cpu-clock:  7fae1e0f127a PhaseCFG::schedule_late (/usr/lib/…/libjvm.so)
//	24997/24997  1884.742374599: cpu-clock:  ffffffff821f5127 exc_page_fault ([kernel.kallsyms])
//	24997/24998  1884.749632617: cpu-clock:      7fae1ee6fd10 _dl_new_object (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
//	24997/24998  1884.802211905: cpu-clock:      7fae0c8d3a42 [unknown] (/tmp/perf-24997.map)
//	24997/24998  1884.803100412: PERF_RECORD_LOST lost 43
//
// Traps:
//
//   - Symbols hold blanks and parentheses (`f(void (*)(int)) const`), and so do
//     modules (`/tmp/a (deleted)`), so a search for a parenthesis finds neither the
//     end of the symbol nor the start of the module.
//   - Events carry modifiers (`cycles:Pu:`) or a PMU (`cpu_core/cycles/u:`), but the
//     colon in a tracepoint (`sched:sched_switch:`) belongs to its name.
//   - The code cache is `//anon`, `[unknown]` or `/tmp/perf-PID.map`, with or without
//     huge pages. If the JVM wrote a perf map, a symbol stands with it. The Module of
//     all of these is "".
//   - A module in brackets is a part of the kernel, unless it is `[vdso]` and the
//     like.
//   - The pid is -1 for a task that perf could not name any more, and 0 for the idle
//     task. JMH's fields have no pid.
//   - Lost records and lost samples are two accounts of one loss; see [Lost].
//
// # Running DTrace
//
// DTrace runs [DTraceProgram] and samples all processes. Which samples are of the
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
//     BEGIN probe gone (about one in 25 did here). It is started again.
//   - Linux has no profile probe above 5000 Hz. DTrace then refuses; it takes no other
//     frequency than it was asked for.
//   - SystemTap installs a script named dtrace too, which prints its usage on stdout.
//   - When a seccomp filter blocks bpf, DTrace complains of the limit of locked memory,
//     which does not apply to root.
//
// # Pauses
//
// A sampler can pause. Measured here, samples began again 2 ms after Resume.
//
//   - [Native.Pause] disables the events. The kernel does not tell of mappings and threads
//     beside a disabled event, so with [Options].Pauses there is one more, which never happens
//     and goes on.
//   - [Perf.Pause] disables perf's events by name, through --control, so that perf's own
//     dummy goes on for the same reason.
//   - [DTrace.Pause] lets DTrace go on and leaves its samples out, by their times: it would
//     take seconds to begin anew.
//
// # DTrace's text
//
// A line per sample: the CPU, the probe's number and name, and what DTraceProgram
// prints (the pid, the PC, the time and a function):
//
//	CPU     ID                    FUNCTION:NAME
//	  1   3973                    :profile-1001 9149 0x48a192 3380699881073
//	  1   3973                    :profile-1001 9149 0xffffffff81591f22 3380697886648  vmlinux`filemap_get_entry
//	  1   3977                    :profile-1001 3356 0x7fbffc6bc568 1702201016319  libjvm.so`_ZN2os5sleepEP6Threadlb
//	  2  12345                  :profile-1001 4711 0x10e8c31f7 81234567891101   libjvm.dylib`SymbolTable::lookup(char const*, int)
//
// Traps:
//
//   - The columns have no fixed width and no fixed number of words: the function may be
//     missing, and its name may hold blanks, parentheses and backquotes. The first
//     backquote ends the module.
//   - A PC in JIT code has its address in place of the module and the function. A PC in
//     a function without a name has its address behind the backquote.
//   - Linux prints mangled names, macOS demangled ones. Sample.Symbol is always
//     demangled.
//   - Each CPU's samples come in one go, so the times of the text go back and forth.
//     The reader gives them as they are.
//   - timestamp is CLOCK_MONOTONIC on Linux.
//   - A line without its end is from a DTrace that was killed, or from a full disk. The
//     reader does not take the name in it, which may be cut.
//   - If stderr was saved with the text, there are drops in it (`dtrace: 12 drops on CPU
//     1`), which are [Lost], and on macOS a line about system integrity protection,
//     which is normal.
//
// # Running xctrace
//
// macOS could not be had where gasm was written: this is made from what public projects do and show, and was never run.
//
//   - xctrace needs no root. It records all processes, because it does not follow a command's children; which samples are of
//     the command is found out afterwards, by their pids, as with DTrace.
//   - What a bare instrument records, `--instrument "Time Profiler"`, Xcode 26 exports; a template's recording it may not.
//   - That it records, xctrace tells by a notification (--notify-tracing-started, which notifyutil waits for), and by a line on
//     stdout, which may come late when stdout is a pipe. StartXCTrace takes the first of the two.
//   - SIGINT ends it. It then saves the recording, which can take minutes.
//   - The times of samples count from the recording's start. The table time-info has that moment by mach_absolute_time, and
//     how many ns its ticks are; [XCTrace.WriteText] adds what CLOCK_MONOTONIC is ahead of that clock. Without the table it
//     takes the start-date of the table of contents, which is the wall clock's, in ms.
//
// # xctrace's export
//
//	<trace-query-result><node xpath='…'><schema name="time-profile">…</schema>
//	<row><sample-time id="1" fmt="00:00.464.248">464248740</sample-time><thread id="2" fmt="Main Thread  0x12aa (java, pid: 4711)">
//	  <tid id="3" fmt="0x12aa">4778</tid><process id="4" fmt="java (4711)"><pid id="5" fmt="4711">4711</pid></process></thread>
//	  <process ref="4"/><thread-state id="8" fmt="Running">Running</thread-state><weight id="9" fmt="1.00 ms">1000000</weight>
//	  <backtrace id="10"><frame id="11" name="f(int)" addr="0x1a0241c35"><binary id="12" name="dyld" arch="arm64e" …/></frame>…</backtrace></row>
//
// Traps:
//
//   - A value that came before is an element with its number: <backtrace ref="10"/>. So all of them are kept, in limits.
//   - The innermost frame comes first. Its address is higher by one than the program counter.
//   - Code of the code cache has no binary, and its address for a name.
//   - Since Xcode 26.4 the backtrace is in a tagged-backtrace; in Xcode 27 the frames are in that one directly. Before Xcode
//     14.3 there are no frames, only text-addresses: such a row is [Lost].
//   - <sentinel/> stands in place of a backtrace that could not be had. Rows of threads that wait are no samples.
//   - HotSpot puts "Java: " in front of the names of threads on macOS.
package sampler
