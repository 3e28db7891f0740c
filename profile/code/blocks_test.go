package code

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// code returns lines of two bytes each: "jne 4" jumps to line 4.
func code(texts ...string) []Line {
	lines := make([]Line, len(texts))
	for i, text := range texts {
		l := &lines[i]
		l.Lo, l.Hi, l.Text, l.Counts = uint64(0x100+2*i), uint64(0x102+2*i), text, make(tally.Counts, 1)
		mnemonic, operand, _ := strings.Cut(text, " ")
		switch to, err := strconv.Atoi(operand); {
		case mnemonic == "jmp":
			l.Kind = disasm.Jump
			if err == nil {
				l.Target = uint64(0x100 + 2*to)
			}
		case mnemonic == "jne":
			l.Kind, l.Target = disasm.CondJump, uint64(0x100+2*to)
		case mnemonic == "call":
			l.Kind, l.TargetName = disasm.Call, operand
		case mnemonic == "ret":
			l.Kind = disasm.Return
		}
	}
	return lines
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  []Line
		starts []int
		next   [][]int
		loops  map[int]int // number of blocks by head
		ends   [][]int     // for each loop the lines that lead back to its head
	}{
		{"straight", code("mov", "mov", "ret"), []int{0}, [][]int{nil}, map[int]int{}, [][]int{}},
		{"a loop", code("mov", "add", "jne 1", "ret"), []int{0, 1, 3}, [][]int{{1}, {1, 2}, nil}, map[int]int{1: 1},
			[][]int{{2}}},
		{"a table of jumps", code("jmp *%rax", "mov", "jmp 0"), []int{0, 1}, [][]int{nil, {0}}, map[int]int{}, [][]int{}},
		{"a trap ends a block", code("mov", "jne 4", "jne 1", "call UncommonTrapBlob", "mov", "jmp 1"), []int{0, 1, 2, 3, 4},
			[][]int{{1}, {4, 2}, {1, 3}, nil, {1}}, map[int]int{1: 3}, [][]int{{2, 5}}},
		{"so does hlt", code("jne 2", "hlt", "jmp 0"), []int{0, 1, 2}, [][]int{{2, 1}, nil, {0}}, map[int]int{0: 2},
			[][]int{{2}}},
		{"entered in the middle", code("jmp 3", "mov", "mov", "mov", "jne 1", "ret"), []int{0, 1, 3, 5},
			[][]int{{2}, {2}, {1, 3}, nil}, map[int]int{2: 2}, [][]int{{4}}},
		{"inner and outer", code("mov", "mov", "jne 1", "jne 0", "ret"), []int{0, 1, 3, 4}, [][]int{{1}, {1, 2}, {0, 3}, nil},
			map[int]int{0: 3, 1: 1}, [][]int{{3}, {2}}},
	} {
		blocks := BlocksOf(c.lines, 1)
		var starts []int
		for i, b := range blocks {
			starts = append(starts, b.From)
			if i > 0 {
				assert.Equal(t, blocks[i-1].To, b.From, c.name)
			}
		}
		assert.Equal(t, c.starts, starts, c.name)
		next := Successors(c.lines, blocks)
		for i := range next {
			assert.Equal(t, c.next[i], next[i], "%s, block %d", c.name, i)
		}
		loops, whole := FindLoops(c.lines, blocks, 1)
		assert.True(t, whole)
		got, ends := map[int]int{}, [][]int{}
		for _, l := range loops {
			got[l.Head] = len(l.Blocks)
			ends = append(ends, l.Ends(c.lines, blocks))
		}
		assert.Equal(t, c.loops, got, c.name)
		assert.Equal(t, c.ends, ends, c.name)
	}
}
