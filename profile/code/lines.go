// Package code is the code of one method, stub or codelet as a reader looks at it: the [Line] of each instruction with
// its samples, the basic blocks of the lines ([BlocksOf]), and the loops of the blocks ([FindLoops]).
//
// Blocks and loops are found from the instructions alone. So jumps whose target is not in their text, such as those
// through a table, lead nowhere, and the blocks that nothing leads to are taken for entries of the code.
package code

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Line is one instruction, with its samples.
type Line struct {
	printassembly.Instruction
	Counts tally.Counts
	// TargetName is the name of the code that a call or jump leads to, if that is another blob of the log.
	TargetName string
}

// Direct reports whether the line jumps to, or calls, an address that is in its text.
func (l *Line) Direct() bool { return l.Target != 0 && l.Kind != disasm.Plain }

// Jumps reports whether the line is a jump, to a known address or not.
func (l *Line) Jumps() bool { return l.Kind == disasm.Jump || l.Kind == disasm.CondJump }

// LineAt returns the index of the line that begins at an address, or -1.
func LineAt(lines []Line, addr uint64) int {
	if addr == 0 {
		return -1
	}
	i, ok := slices.BinarySearchFunc(lines, addr, func(l Line, addr uint64) int { return cmp.Compare(l.Lo, addr) })
	if !ok {
		return -1
	}
	return i
}
