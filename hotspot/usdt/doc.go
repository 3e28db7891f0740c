// Package usdt records HotSpot's own probes while a JVM runs, the statically defined tracepoints
// (USDT) that most builds of libjvm.so have. It writes them as a text. Package event/usdt reads
// this text, and its comment describes the format.
//
//   - [Probes] reads the probes from the notes of a library: 45 to 62 places of the providers
//     hotspot and hs_private, and 475 of hotspot_jni.
//   - [Select] finds the probes that a user names ("hotspot:thread__park__begin", "hotspot:*"),
//     and [Patterns] those that report a kind of events.
//   - [Start] records them in one JVM: by a program in the kernel (BPF), which needs the
//     capabilities BPF and PERFMON; or by perf's events for uprobes, which need SYS_ADMIN; or by DTrace.
//     [Allowed] tries whether one of these can be done.
//
// # The notes
//
// A probe is a nop in the library's code and a note in the library's section .note.stapsdt: the
// address of the nop, the names, and where the arguments are at that moment:
//
//	hotspot:monitor__contended__enter    -8@%rbx 8@%r13 8@%rdx -4@%eax
//
// -8@%rbx is a signed number of 8 bytes in a register, 8@%r13 an unsigned one. What follows the @
// is an operand as the assembler of the machine writes it: %rax, $-1, 152(%rdi) or -60(%rbp) on
// x86-64; x0, -1, [x19, 8] on aarch64.
package usdt
