// Package asm compares two pieces of machine code, as reports list it.
//
// [Normalise] replaces everything that differs from run to run (normal.go): addresses, constants addressed relative to
// the program counter, embedded objects and classes. It also replaces a run of padding instructions with one line.
//
// [Align] finds the instructions that both pieces have, in the same order (align.go). Two instructions match even if
// their registers or stack slots differ, but such a match counts less.
//
// [Compare] writes both pieces as one listing (listing.go): what both have ("="), what only A has ("-"), and what only
// B has ("+"). Here, two instructions are equal only if their registers are equal too and, for jumps, if the targets
// match:
//
//	= L1: mov 0x10(%rax),%r8d
//	- add %r8d,%r9d
//	+ imul %r8d,%r9d
//	= jl L1
//
// A region of a report begins with its first sample and ends with its last one, so code that both pieces have may be
// missing in one of the two reports. Therefore, at the ends of a listing and at the gaps between regions (see
// [Append]), lines of only one side are left out if they have no samples.
package asm
