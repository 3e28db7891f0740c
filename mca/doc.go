// Package mca asks programs that model a processor how fast a loop is: llvm-mca of LLVM, or OSACA.
//
//	$ llvm-mca -mcpu=znver3 <loop.s
//	Iterations:        100
//	Total Cycles:      4809
//
// They take straight code as the body of a loop, which [loops.Facts.Assembly] writes. Both assume that all loads hit
// the L1 cache and that all jumps are predicted. What they print becomes the [loops.Model] of the loop.
package mca
