// Package sampler gets program counters out of a running command and reads
// them: it starts an external sampler, stops it, and parses its text.
//
// A sampler here is one tool with two files, and adds no more than that:
//
//   - perf.go runs it: [StartPerf] attaches perf to a process that is held
//     before its exec, [Perf.Stop] ends the recording, [Perf.WriteText] turns
//     the recording into text.
//   - perfscript.go reads that text: a [PerfReader] gives one [Sample] per
//     line. It needs no perf, so a text saved elsewhere (JMH's perfasm saves
//     one) is read as well.
//   - dtrace.go runs DTrace: [StartDTrace] has it sample the whole machine,
//     [DTrace.Stop] ends that, and dtracecopy.go saves what it prints.
//   - dtracetext.go reads that text: a [DTraceReader], for JMH's dtraceasm too.
//
// How often to sample is the caller's choice; [ChooseRate] (rate.go, and
// cost_linux.go for what a sample costs) makes it for a user who does not say.
//
// [NewReader] takes the reader that a text looks like. textreader.go is what the
// two have in common: text is parsed in chunks, side by side, and its records
// come in the text's order.
//
// The samplers share Sample, [Lost], [SyntaxError] and the errors of
// errors.go. The package prints nothing.
//
// # Running perf
//
// perf is attached to the held process's first thread (-t with --inherit) and
// follows its threads and forks. It is never the parent of the
// command: its failure or death does not touch what is being profiled. StartPerf
// returns when perf has confirmed that it samples, so that nothing of the
// command is missed. Some traps:
//
//   - perf asked for cycles on a machine without that counter takes cpu-clock
//     and says nothing, and asked for the kernel by a user who may not see it
//     takes user space only. What was opened stands in the header of perf.data,
//     in the attributes that perf wrote; [Perf.Event] and [Perf.Notes] tell.
//   - EPERM and EACCES have the same long text about perf_event_paranoid. The
//     sysctl gives EACCES; a seccomp filter gives EPERM, and then the text has
//     "No permission to enable".
//   - A perf that is killed, or whose disk is full, leaves a file that says it
//     holds 0 bytes of data, and `perf script` prints nothing of it. Stop
//     completes the header, and all that reached the disk can be read. What was
//     still in the ring buffers (half a MiB per CPU) is gone.
//   - perf ends by itself when the last process it follows has ended, not when
//     the first one has.
//
// # perf's text
//
// `perf script --ns -F comm,pid,tid,time,event,ip,sym,dso` prints a line per
// sample; comm, the thread's name, may be left out:
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
//     modules (`/tmp/a (deleted)`): neither end can be found by a plain search.
//   - Events carry modifiers (`cycles:Pu:`) or a PMU (`cpu_core/cycles/u:`), but
//     the colon in a tracepoint (`sched:sched_switch:`) belongs to its name.
//   - The code cache is `//anon`, `[unknown]` or `/tmp/perf-PID.map`, with or
//     without huge pages, and a symbol may stand with it when the JVM wrote a
//     perf map. All of these are Module "".
//   - A module in brackets is a part of the kernel, unless it is `[vdso]` and
//     the like.
//   - pid is -1 for a task that perf could not name any more, and 0 for the idle
//     task; with JMH's fields there is none.
//   - Lost records and lost samples are two accounts of one loss; see [Lost].
//
// # Running DTrace
//
// DTrace runs [DTraceProgram] and samples all processes: which samples are of the
// command is found out afterwards, by their pids. On macOS a JVM can't be started
// under DTrace, and on both systems a JVM's children would be missed. It is for
// root, or goes through sudo -n. StartDTrace returns when the BEGIN probe has
// printed its mark, Stop when the END probe has. Some traps:
//
//   - One SIGTERM ends it: it prints what it has, then the END probe's line. A
//     second one loses samples. After that line it takes some seconds more to
//     end, with all CPUs busy up to ten: that is for [DTrace.Wait].
//   - DTrace for Linux wakes up for each sample that it prints, and samples
//     itself doing so. The program leaves it out, and its text is fetched from a
//     small pipe four times a second: in between DTrace sleeps and its buffers
//     fill. It then takes 3 to 17 % of a core at 1001 to 1997 Hz on two CPUs, more
//     with many samples of the kernel, whose functions it names.
//   - When gasm is killed there is nobody to read, and SIGPIPE ends DTrace with
//     the next sample, by way of sudo as well.
//   - DTrace goes on when what it prints can't be written, and sudo's permission
//     may have run out when it is to be stopped. Both are a [StoppedError], with
//     the samples until then in the file.
//   - Samples that found no room in its buffers (4 MB per CPU) are told of on
//     stderr, while it samples: [DTrace.Lost].
//   - A DTrace for Linux that starts while another one starts or ends may find its
//     own BEGIN probe gone (about one in 25 did here). It is started again.
//   - Linux has no profile probe above 5000 Hz. Another frequency than asked for
//     is not taken, DTrace refuses.
//   - SystemTap installs a script of the same name, which prints its usage on
//     stdout. A program named dtrace is no sign of DTrace.
//   - A seccomp filter on bpf makes DTrace complain of the limit of locked
//     memory, which root need not care about.
//
// # DTrace's text
//
// A line per sample: the CPU, the probe's number and name, and what DTraceProgram
// prints (the pid, the PC, the time and a place):
//
//	CPU     ID                    FUNCTION:NAME
//	  1   3973                    :profile-1001 9149 0x48a192 3380699881073
//	  1   3973                    :profile-1001 9149 0xffffffff81591f22 3380697886648  vmlinux`filemap_get_entry
//	  1   3977                    :profile-1001 3356 0x7fbffc6bc568 1702201016319  libjvm.so`_ZN2os5sleepEP6Threadlb
//	  2  12345                  :profile-1001 4711 0x10e8c31f7 81234567891101   libjvm.dylib`SymbolTable::lookup(char const*, int)
//
// Traps:
//
//   - The widths of the columns differ, and so do their numbers of words: a
//     place may be missing, and its name holds blanks, parentheses and
//     backquotes. The first backquote ends the module.
//   - JIT code has its address in place of the module and the name, a function
//     without a name has it behind the backquote.
//   - Linux prints mangled names, macOS demangled ones. The Symbol is always
//     demangled.
//   - Each CPU's samples come in one go: the times of the text go back and
//     forth. The reader gives them as they are.
//   - timestamp is CLOCK_MONOTONIC on Linux.
//   - A line without its end is of a DTrace that was killed, or of a full disk.
//     The name that it ends in is not taken.
//   - With stderr in the text there are drops (`dtrace: 12 drops on CPU 1`),
//     which are [Lost], and on macOS a word on system integrity protection, which
//     is as it should be.
package sampler
