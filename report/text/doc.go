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
//   - The share of all samples of the profile, one per event; blank when no sample was at the instruction. Samplers
//     tend to charge the instruction after the slow one ("skid"), so look at the line above a hot one too.
//   - Arrows, from a jump (╭ when it goes down, ╰ when it goes up, ├ when it joins another jump to the same place) to
//     its target (↘ reached from above, ↗ from below). Loops are the arrows that end in ↗. Jumps that leave the lines
//     shown may be marked with ↖ and ↙.
//   - The address and the instruction.
//   - HotSpot's comments: the bytecode that the instruction was made from, relocations in {braces}, and, in braces as
//     well, the name of the code that a jump or call leads to.
//
// The inlining chain, the innermost method first, is on lines of its own, which begin with ;; and come before the
// instructions that were made from these methods; folded.go says how chains are folded. With [Full] comments, the chain
// follows each instruction, as HotSpot and perfasm write it.
//
// A line of its own with … stands for instructions that are left out.
//
// Then come tables. Hottest Regions and Hottest Methods sum up machine code, in which everything inlined counts for the
// method that was compiled, and rank native functions with it. Hottest Frames counts the same samples for the innermost
// Java method and source line instead. If there are sources, Hottest Lines has the text of these lines. Hottest Native
// Functions has the code outside the code cache. Distribution by Source sums up compilers, libraries and the kernel.
// Account of Samples shows what became of every sample taken: what is in the profile, and what is not.
//
// Each share in a table is rounded by itself, so that the same samples have the same number in all tables. A column may
// therefore differ from its total by some hundredths of a percent. The account is different: its shares are adjusted,
// by at most a hundredth each, so that they add up exactly as printed.
//
// # How it is written
//
// [Write] makes a document (text.go), which has the header (header.go), the table of JVMs (jvms.go), and for each
// profile a view: the profile with the page, the options, and how amounts (amounts.go) and names (shortnames.go) are
// written. Each part of the report is written with a view: the overview, the hot regions (hotspots.go) with their
// listings (listing.go, and comments.go or folded.go), the rankings (ranking.go; tables.go, frames.go, lines.go and
// threads.go fill them), the tables of events and what belongs to them (events.go, delays.go, sites.go, probes.go),
// compilations.go, forks.go, and the account (account.go).
package text
