// Package asm compares two pieces of machine code, as reports list it.
//
// [Normalise] replaces everything that differs from run to run (normal.go): addresses, constants addressed relative to the
// program counter, embedded objects and classes. It puts padding together.
//
// [Align] finds the instructions that both pieces have, in the same order (align.go). Other registers or other stack slots
// do not keep two instructions from matching, but they make a worse match.
//
// [Compare] writes both pieces as one listing (listing.go): what both have, what only A has, and what only B has. Two
// instructions are equal there only if their registers are, and if they jump to instructions that match:
//
//	= L1: mov 0x10(%rax),%r8d
//	- add %r8d,%r9d
//	+ imul %r8d,%r9d
//	= jl L1
//
// A region of a report begins and ends where its samples do, so the other side may have the same code without listing it.
// What has no samples at the ends of a listing, and at gaps between regions ([Append]), is left out.
package asm
