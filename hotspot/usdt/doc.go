// Package usdt records HotSpot's own probes while a JVM runs. These are statically defined
// tracepoints (USDT), which most builds of libjvm.so have. The firings of the probes are written as
// a text. Package event/usdt reads this text, and its comment describes the format.
//
//   - [Probes] reads the probes from the notes of a library: 45 to 68 places of the providers
//     hotspot and hs_private, and about 500 of hotspot_jni.
//   - [Select] finds the probes that a user names ("hotspot:thread__park__begin", "hotspot:*"), and
//     [Patterns] finds those that report a kind of events.
//   - [Start] records them in one JVM. There are three ways: a program in the kernel (BPF), which
//     needs the capabilities BPF and PERFMON; perf's events for uprobes, which need SYS_ADMIN; and
//     DTrace. [Allowed] finds out whether one of them works.
//
// # The notes
//
// A probe is a nop in the library's code and a note in the library's section .note.stapsdt: the
// address of the nop, the names, and where the arguments are at that moment:
//
//	hotspot:monitor__contended__enter    -8@%rbx 8@%r13 8@%rdx -4@%eax
//
// -8@%rbx is a signed number of 8 bytes in a register, and 8@%r13 an unsigned one. After the @
// comes an operand in the syntax of the machine's assembler. On x86-64 that is for example %rax,
// $-1, 152(%rdi) or -60(%rbp), and on aarch64 x0, -1 or [x19, 8].
package usdt
