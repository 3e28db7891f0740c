// Package asm compares two pieces of machine code from two reports.
//
// [Normalise] replaces everything that differs from run to run, namely addresses, operands relative to the program
// counter, and embedded objects and classes (normal.go). It also merges consecutive padding instructions into one line.
//
// [Align] finds the instructions that both pieces have in the same order (align.go). Instructions match even if their
// registers or stack slots differ, but such a match counts less.
//
// [Compare] merges both pieces into one listing (listing.go). It marks each line as an instruction of both pieces
// ("="), of A only ("-"), or of B only ("+"). Here, two instructions are equal only if they have the same registers.
// Two jumps must also have matching targets:
//
//	= L1: mov 0x10(%rax),%r8d
//	- add %r8d,%r9d
//	+ imul %r8d,%r9d
//	= jl L1
//
// Reports do not list all code. A region of a report begins at the first instruction that has samples and ends at the
// last one, so one report may list code that the other report leaves out although its program has that code too. Such
// code must not look like a difference. It can only occur at the two ends of a listing, or at a gap between two regions
// (see [Append]). So at these places, lines without samples are left out if only one side has them.
package asm
