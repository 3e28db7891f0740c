package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Block is a basic block: instructions that run one after the other. Jumps only lead to its first instruction, and
// only leave from its last one.
type Block struct {
	From, To int // lines [From, To)
	Counts   tally.Counts
	Loop     int // index of the innermost loop around the block, or -1
}

// Cold reports whether a block has no samples.
func (b *Block) Cold() bool {
	return !slices.ContainsFunc(b.Counts, func(n int64) bool { return n != 0 })
}

// BlocksOf divides code into basic blocks. counters is the number of counts that each line has.
func BlocksOf(lines []Line, counters int) []Block {
	leads := make([]bool, len(lines)+1)
	for i := range lines {
		l := &lines[i]
		if i == 0 || l.Section != "" || l.Lo > lines[i-1].Hi {
			leads[i] = true
		}
		if l.Jumps() {
			if to := LineAt(lines, l.Target); to >= 0 {
				leads[to] = true
			}
		}
		if l.Jumps() || l.Kind == disasm.Return || NeverReturns(l) {
			leads[i+1] = true
		}
	}
	var blocks []Block
	for i := range lines {
		if leads[i] {
			blocks = append(blocks, Block{From: i, Counts: make(tally.Counts, counters), Loop: -1})
		}
		b := &blocks[len(blocks)-1]
		b.To = i + 1
		b.Counts.Add(lines[i].Counts)
	}
	return blocks
}

// BlockAt returns the index of the block that contains the line with the given index.
func BlockAt(blocks []Block, line int) int {
	i, ok := slices.BinarySearchFunc(blocks, line, func(b Block, line int) int { return cmp.Compare(b.From, line) })
	if !ok {
		i--
	}
	return i
}

// noReturn are parts of the names of code that never returns to its caller: code that throws exceptions, and traps, by
// which the JVM gives up a method's compiled code.
//
//	call   0x7fae08991a80   ; {runtime_call UncommonTrapBlob}
//	call   0x7f55d0a6d2a0   ; {runtime_call C1 Runtime throw_range_check_failed_blob}
var noReturn = []string{"UncommonTrap", "uncommon_trap", " throw_", "rethrow", "unwind_exception", "forward_exception"}

// NeverReturns reports whether a line calls code that never returns.
func NeverReturns(l *Line) bool {
	if l.Kind != disasm.Call {
		return false
	}
	is := func(name string) bool {
		return slices.ContainsFunc(noReturn, func(part string) bool { return strings.Contains(" "+name, part) })
	}
	return is(l.TargetName) || slices.ContainsFunc(l.Comments,
		func(c string) bool { return strings.HasPrefix(c, "{runtime_call") && is(c) })
}

// traps are instructions that stop the normal flow of execution. HotSpot puts them after calls that never return.
var traps = []string{"hlt", "ud2", "int3", "udf", "brk", "dcps1"}

// Successors returns the blocks that can follow each block. A jump leads to no block if its target is outside the code.
// The same holds if the jump's text does not contain the target, as in a jump through a table.
func Successors(lines []Line, blocks []Block) [][]int {
	next := make([][]int, len(blocks))
	for b := range blocks {
		last := &lines[blocks[b].To-1]
		mnemonic, _, _ := strings.Cut(last.Text, " ")
		if to := LineAt(lines, last.Target); last.Jumps() && to >= 0 {
			next[b] = append(next[b], BlockAt(blocks, to))
		}
		ends := last.Kind == disasm.Jump || last.Kind == disasm.Return || NeverReturns(last) ||
			slices.Contains(traps, mnemonic)
		if !ends && b+1 < len(blocks) && lines[blocks[b+1].From].Lo <= last.Hi {
			next[b] = append(next[b], b+1)
		}
	}
	return next
}
