// Package code describes the code of one method, stub or codelet in the form that reports show: the [Line] of each
// instruction with its samples, the basic blocks of the lines ([BlocksOf]), and the loops of the blocks
// ([FindLoops]).
//
// The package finds blocks and loops from the text of the instructions alone. A jump through a table does not have its
// targets in its text, so it counts as leading nowhere. A block to which nothing leads counts as an entry of the code.
package code

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Line is one instruction, with its samples.
type Line struct {
	printassembly.Instruction
	Counts tally.Counts
	// TargetName is the name of the code that a call or jump leads to, if that is another blob of the log.
	TargetName string
	// Note is what HotSpot's profile says about the instruction; nil if it says nothing.
	Note *jitprofile.Note
	// Call says whether the call of a Java method was inlined, and why not. It is nil for other instructions, and if
	// nothing was recorded.
	Call *decisions.Call
}

// Direct reports whether the line is a jump or a call to an address that is in its text.
func (l *Line) Direct() bool { return l.Target != 0 && l.Kind != disasm.Plain }

// Jumps reports whether the line is a jump, to a known address or not.
func (l *Line) Jumps() bool { return l.Kind == disasm.Jump || l.Kind == disasm.CondJump }

// LineAt returns the index of the line whose instruction begins at an address, or -1 if there is no
// such line.
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
