// Package sampler reads the text output of samplers: program counters that perf, DTrace, xctrace or gasm itself has
// sampled. Package sampler/collect runs the samplers.
//
// The readers do not run the samplers' tools, so they can also read a text that was saved on another machine, such as
// the ones that JMH's perfasm and dtraceasm save.
//
//   - A [PerfReader] returns one [Sample] for each line of perf's text (perfscript.go;
//     perfnames.go for symbols and modules). Native sampling writes the same text, as a
//     [PerfText] (perftext.go).
//   - A [DTraceReader] reads DTrace's text (dtracetext.go).
//   - An [XCTraceReader] reads what `xctrace export` writes (xctracetext.go; xctracexml.go for
//     the tags, xctraceids.go for values that are repeated by number).
//
// [NewReader] looks at the start of a text and returns the reader for it. The PerfReader and the DTraceReader share
// textreader.go: it parses several chunks of a text at the same time, and returns the records in the text's order.
//
// An [Event] (event.go) is an event that makes a sampler take a sample: "cycles", for example.
//
// # perf's text
//
// `perf script --ns -F comm,pid,tid,time,event,ip,sym,dso` prints a line for each sample. The field comm, the thread's
// name, is optional:
//
//	C2 CompilerThre 24997/25003  1884.742374599: cpu-clock:  7fae1e0f127a PhaseCFG::schedule_late (/usr/lib/…/libjvm.so)
//	24997/24997  1884.742374599: cpu-clock:  ffffffff821f5127 exc_page_fault ([kernel.kallsyms])
//	24997/24998  1884.749632617: cpu-clock:      7fae1ee6fd10 _dl_new_object (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
//	24997/24998  1884.802211905: cpu-clock:      7fae0c8d3a42 [unknown] (/tmp/perf-24997.map)
//	24997/24998  1884.803100412: PERF_RECORD_LOST lost 43
//
// Without -F, perf script prints other fields. There is no process id. The CPU is in brackets if perf recorded it. The
// number of events since the last sample comes before the event's name. If perf recorded stacks (-g), the sample's
// address is on the next line, and the callers follow. [NewChainReader] keeps them (perfchain.go), other readers skip
// them:
//
//	java  5363 [001]  1214.660359:    2004008 cpu-clock:
//		    7f877c93872f [unknown] (/tmp/perf-5360.map)
//		          f304cd VM_Version::initialize+0x51d (/usr/lib/…/libjvm.so)
//
// perf script does not print the stacks that native sampling records. A [PerfText] writes the ID of a sample's stack at
// the end of the line, and package callstack has the stacks:
//
//	C2 CompilerThre 24997/25003  1884.742374599: cpu-clock:  7fae1e0f127a PhaseCFG::schedule_late (/usr/lib/…/libjvm.so) #17
//
// Traps:
//
//   - Symbols contain blanks and parentheses (`f(void (*)(int)) const`), and so do modules (`/tmp/a (deleted)`). So the
//     module does not always begin at the first or the last opening parenthesis of a line.
//   - Events carry modifiers (`cycles:Pu:`) or a PMU (`cpu_core/cycles/u:`), but the
//     colon in a tracepoint (`sched:sched_switch:`) belongs to its name.
//   - The code cache is `//anon`, `[unknown]` or `/tmp/perf-PID.map`, with or without
//     huge pages. If the JVM wrote a perf map, such a line also has a symbol. The Module of
//     all of these is "".
//   - A module in brackets is a part of the kernel, unless it is `[vdso]` or one of the
//     other pages that the kernel maps into processes.
//   - In a stack, code from a mapped file has the address that it has in the file, not the one in memory. A function
//     that was inlined has the word (inlined) in place of the module, and is before the function that it was inlined
//     into.
//   - The pid is -1 for a task that perf could not name any more, and 0 for the idle
//     task. JMH's fields have no pid.
//   - perf may report one loss twice, as lost records and as lost samples; see [Lost].
//
// # DTrace's text
//
// There is a line for each sample. It has the CPU, the probe's number and name, and what gasm's program prints (the
// pid, the PC, the time and a function; see dtrace.Program):
//
//	CPU     ID                    FUNCTION:NAME
//	  1   3973                    :profile-1001 9149 0x48a192 3380699881073
//	  1   3973                    :profile-1001 9149 0xffffffff81591f22 3380697886648  vmlinux`filemap_get_entry
//	  1   3977                    :profile-1001 3356 0x7fbffc6bc568 1702201016319  libjvm.so`_ZN2os5sleepEP6Threadlb
//	  2  12345                  :profile-1001 4711 0x10e8c31f7 81234567891101   libjvm.dylib`SymbolTable::lookup(char const*, int)
//
// Traps:
//
//   - The columns have no fixed width and no fixed number of words. The function may be missing, and its name may
//     contain blanks, parentheses and backquotes. The first backquote ends the module.
//   - A PC in JIT code has its address in place of the module and the function. A PC in
//     a function without a name has its address after the backquote.
//   - Linux prints mangled names, macOS demangled ones. Sample.Symbol is always
//     demangled.
//   - DTrace prints the samples of one CPU after those of another, so the times of the text
//     go back and forth. The reader returns the samples in the text's order.
//   - timestamp is CLOCK_MONOTONIC on Linux.
//   - If the last line has no line end, DTrace was killed or the disk was full. The reader ignores the function's name
//     in such a line, because the name may be cut.
//   - If DTrace's stderr was saved with the text, the text also has lines about drops (`dtrace: 12 drops on CPU 1`),
//     which become [Lost] records. On macOS, it also has a line about system integrity protection, which is normal.
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
//   - xctrace writes each value only once, with a number, and then refers to it by that number: <backtrace ref="10"/>.
//     So the reader keeps all values, up to limits (xctraceids.go).
//   - The innermost frame comes first. Its address is one higher than the program counter.
//   - A frame in the code cache has no binary, and its address in place of a name.
//   - Since Xcode 26.4 the backtrace is in a tagged-backtrace; in Xcode 27 the tagged-backtrace has the frames itself.
//     Before Xcode 14.3 there are no frames, only text-addresses. Such a row becomes a [Lost] record.
//   - <sentinel/> stands in place of a backtrace that Instruments could not take. Rows of
//     threads that wait are not samples.
//   - HotSpot puts "Java: " before the names of threads on macOS.
package sampler
