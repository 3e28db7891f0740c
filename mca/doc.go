// Package mca asks programs that model a processor how fast a loop is: llvm-mca of LLVM, or OSACA.
//
//	$ llvm-mca -mcpu=znver3 <loop.s
//	Iterations:        100
//	Total Cycles:      4809
//
// Both programs read straight code, which [loops.Facts.Assembly] writes, and take it as the body of a loop. They assume
// that all loads hit the L1 cache and that all jumps are predicted. What they print becomes the [loops.Model] of the
// loop.
package mca
