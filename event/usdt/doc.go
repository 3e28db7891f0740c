// Package usdt has events from HotSpot's own probes, the statically defined tracepoints
// (USDT) that most builds of libjvm.so have: what the probes are, how they are recorded while
// a JVM runs, and the text that they are kept in.
//
//   - [Probes] reads them from the notes of a library: 45 to 62 places of the providers
//     hotspot and hs_private, and 475 of hotspot_jni. [Known] says what their arguments are.
//   - [Select] finds those that a user names ("hotspot:thread__park__begin", "hotspot:*") or
//     that tell of a kind of events.
//   - [Start] records them in one JVM, by a program in the kernel (BPF), which needs the
//     capabilities BPF and PERFMON; or by perf's events for uprobes, which need SYS_ADMIN; or by DTrace.
//     [Allowed] tries whether that can be done.
//   - [Reader] reads the text that this has written, and joins the begin of something with
//     its end.
//
// # The notes
//
// A probe is a nop in the library's code and a note in its section .note.stapsdt: the
// address of the nop, the names, and where the arguments are at that moment:
//
//	hotspot:monitor__contended__enter    -8@%rbx 8@%r13 8@%rdx -4@%eax
//
// is a signed number of 8 bytes in a register, and so on. What follows the @ is an operand as
// the assembler of the machine writes it: %rax, $-1, 152(%rdi) or -60(%rbp) on x86-64; x0, -1,
// [x19, 8] on aarch64.
//
// # The text
//
// A line is a probe that was reached: the time by CLOCK_MONOTONIC in seconds, the thread, the
// probe, and its arguments, of which texts are in quotes:
//
//	# gasm usdt 1
//	# probes hotspot:method__compile__begin hotspot:thread__park__end hotspot:thread__sleep__begin
//	1884.749632617 24998 hotspot:method__compile__begin "C2 CompilerThread0" "Hot" "sum" "([D)D"
//	1884.749700112 24990 hotspot:thread__sleep__begin 1
//	1884.749700117 24998 hotspot:thread__park__end ?
//
// The second line has the probes that are recorded; older texts have none. The begin of something
// whose end is not among them is a moment, which has no duration, and so is an end without its begin.
//
// A ? is an argument that could not be read. Objects that are allocated are too many for a line
// each. Lines of another form have their sums for some 20 ms, by the address of the instruction
// behind the call, and by class: how many, and how many bytes. Two more addresses are
// for calls by a stub: behind the call of a stub of C1's, whose frames are chained, and of one of
// C2's, which JDK 11 and 17 have: the first address of code on the stack.
//
//	1884.749632617 0 allocated 0x7fae0c8d3a42 0x0 0x0 "java/lang/Integer" 120 1920
//
// The bytes are a ? in JDK 11 and 17, where the size is an int: code of C2 calls
// SharedRuntime::dtrace_object_alloc(oopDesc*, int) with the object alone, and the size is what is
// in the register.
//
// Two more lines say how many events were lost, because they came faster than they were read,
// and when the recording ended.
//
//	1884.749632617 0 lost 17
//	1884.749632617 0 end
package usdt
