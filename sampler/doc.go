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
// `perf script --ns -F pid,tid,time,event,ip,sym,dso` prints a line per sample:
//
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
package sampler
