// Package report turns profiles into the text report, JSON, pprof's format, a page for a browser, and an annotated log.
//
// [WriteText], [WriteJSON], [WritePprof], [WriteHTML] and [WriteLog] each write what profile.Of gives, and know nothing of
// files. The types of the JSON are in package schema, and package page makes the page.
//
// # How to read the text report
//
// It has perfasm's order. First the capture: what ran, what sampled it, how many samples the profile has, and an overview
// of what is hottest. Then the hottest code regions, instruction by instruction:
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
//   - The share of all samples of the profile, one per event; blank when no sample was at the instruction. Samplers tend
//     to charge the instruction after the slow one ("skid"), so look at the line above a hot one too.
//   - Arrows, from a jump (╭ when it goes down, ╰ when it goes up, ├ when it joins another jump to the same place) to its
//     target (↘ reached from above, ↗ from below). Loops are the arrows that end in ↗. Jumps that leave the lines shown
//     may be marked with ↖ and ↙.
//   - The address and the instruction.
//   - HotSpot's comments: the bytecode that the instruction was made from, relocations in {braces}, and, in braces as well,
//     the name of the code that a jump or call leads to.
//
// The inlining chain, the innermost method first, is on lines of its own, which begin with ;; and stand in front of the
// instructions that were made from these methods; the file folded.go says how chains are folded. With [Full] comments they
// stand behind each instruction, as HotSpot and perfasm write them.
//
// A line of its own with … stands for instructions that are left out.
//
// Then come tables. Hottest Regions and Hottest Methods sum up machine code, with everything inlined counted for the
// method that was compiled, and rank native functions with it. Hottest Frames counts the same samples for the innermost
// Java method and source line instead; where there are sources, Hottest Lines has these lines. Hottest Native Functions has the code outside the code cache. Distribution by Source sums up compilers, libraries and
// the kernel. Account of Samples shows what became of every sample taken: what is in the profile, and what is not.
//
// Each share in a table is rounded by itself, so that the same samples have the same number in all tables. A column may
// therefore differ from its total by some hundredths of a percent. The account is different: its shares are adjusted, by
// a hundredth each at most, so that they add up exactly as printed.
package report
