// Package text writes the text report.
//
// # How to read it
//
// The report has perfasm's order. The header says what ran, what sampled it, and how many samples the profile has. An
// overview of what is hottest follows, and then the hottest code regions, instruction by instruction:
//
//	          ;; Workload::logs in Workload::main:37
//	       ╭  0x7efcf8ed5362:   jge    0x7efcf8ed5393           ;*aload_3 :18
//	1.00%  │↗  0x7efcf8ed5364:   vmovsd (%rsp),%xmm0
//	       ││  …
//	0.97%  ││  0x7efcf8ed538f:   cmp    %ebp,%ebx
//	       │╰  0x7efcf8ed5391:   jl     0x7efcf8ed5364
//	       ↘   0x7efcf8ed5393:   vmovsd 0x8(%rsp),%xmm0          ; Workload::main:37
//
// The parts of a line are:
//
//   - The share of all samples of the profile, one per event; blank if no sample was at the instruction. Samplers
//     tend to charge the instruction after the slow one ("skid"), so look at the line above a hot line, too.
//   - Arrows, from a jump (╭ when it goes down, ╰ when it goes up, ├ when it joins another jump to the same place) to
//     its target (↘ reached from above, ↗ from below). Loops are the arrows that end in ↗. Jumps that leave the lines
//     shown may be marked with ↖ and ↙.
//   - The address and the instruction.
//   - HotSpot's comments: the bytecode that the instruction was made from, and relocations in {braces}. The name of the
//     code that a jump or call leads to is in braces, too.
//
// An inlining chain is written on lines of its own, which begin with ;; and come before the instructions that were made
// from its methods. The innermost method is first. The file folded.go in package listing says how chains are folded.
// With [listing.Full] comments, each instruction is followed by its whole chain, as HotSpot and perfasm write it.
//
// A line that consists of … stands for instructions that are left out.
//
// If the capture has call stacks, trees of the hottest frames' callers follow and, if asked for, the tree of all calls.
//
// Then come tables. Hottest Regions and Hottest Methods count machine code: samples in an inlined method count for the
// compiled method that contains it. Both also rank native functions. Hottest Frames counts the same samples for the
// innermost Java method and source line instead. If there are sources, Hottest Lines has the text of these lines.
// Hottest Native Functions ranks the code outside the code cache. Distribution by Source has the sums of compilers,
// libraries and the kernel. Account of Samples shows what happened to every sample that was taken: whether it is in the
// profile, and if not, why.
//
// Each share in a table is rounded by itself, so that the same samples have the same number in all tables. A column may
// therefore differ from its total by some hundredths of a percent. The account is different: its shares are adjusted,
// by at most a hundredth each, so that the printed shares add up exactly.
//
// # How it is written
//
// [Write] makes a document (text.go). The document has the header (header.go), the table of JVMs (jvms.go), and a view
// of each profile. A view is the profile with everything that is needed to write it: the page, the options, and the
// formats of amounts and names (packages view and counts). Each part of the report is written with a view: the
// overview, the hot regions (hotspots.go) with their code (package listing), callers (callers.go), the rankings
// (ranking.go; tables.go, frames.go, lines.go and threads.go fill them), events and waiting threads (package events,
// and delays.go), what the JIT compilers did (jit.go, warmup.go, compilations.go, inlining.go), forks.go, and the
// account (account.go).
package text
