package callsites

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// piece returns code of three blocks with n calls in each, which return to 105, 110, …; the blocks have the given
// samples. Decisions are known of all but the last call.
func piece(n int, samples [3]int64, called map[uint64]int64) *Piece {
	p := &Piece{Source: "c2, level 4", Method: "A::m", CompileID: 7, PID: 1}
	var insts []printassembly.Instruction
	var decided []event.Inlined
	for block := range 3 {
		for range n {
			i := len(insts)
			insts = append(insts, printassembly.Instruction{Lo: uint64(100 + 5*i), Hi: uint64(105 + 5*i), Kind: disasm.Call,
				OwnFrames: true,
				Comments:  []string{"*invokestatic f", "{static_call}"}, Frames: []printassembly.Frame{{Method: "A::m", BCI: i}}})
			decided = append(decided, event.Inlined{CompileID: 7, Caller: "A::m", BCI: i, Callee: fmt.Sprintf("B::f%d", i),
				Message: "too big"})
		}
		if block < 2 {
			i := len(insts)
			insts = append(insts, printassembly.Instruction{Lo: uint64(100 + 5*i), Hi: uint64(105 + 5*i), Kind: disasm.CondJump})
		}
	}
	p.Code = decisions.Of(insts, &decisions.Source{Decided: decided[:len(decided)-1],
		Sizes: func(string) []int { return nil }})
	for i, in := range insts {
		line := code.Line{Instruction: in, Counts: tally.Counts{0}}
		if i%(n+1) == 0 {
			line.Counts[0] = samples[i/(n+1)]
		}
		p.Lines = append(p.Lines, line)
	}
	if called != nil {
		p.Called = func(returns uint64) tally.Counts { return tally.Counts{called[returns]} }
	}
	return p
}

func TestTable(t *testing.T) {
	b := NewBuilder(1)
	assert.Nil(t, b.Table())
	b.Add(piece(1, [3]int64{3, 0, 9}, map[uint64]int64{105: 1, 115: 40}))
	table := b.Table()
	require.NotNil(t, table)
	require.Len(t, table.Sites, 2, "nothing is known of the third")
	assert.Equal(t, []string{"B::f2", "B::f0"}, []string{table.Sites[0].Call.Callee, table.Sites[1].Call.Callee})
	assert.Equal(t, []tally.Counts{{0}, {40}, {40}}, []tally.Counts{table.Sites[0].Around, table.Sites[0].Callee,
		table.Sites[0].Counts})
	assert.Equal(t, []tally.Counts{{3}, {1}, {4}}, []tally.Counts{table.Sites[1].Around, table.Sites[1].Callee,
		table.Sites[1].Counts})
	assert.Equal(t, 3, table.Calls())
	assert.Equal(t, map[decisions.Outcome]int{decisions.Refused: 2, decisions.Unknown: 1}, table.Outcomes)
	assert.Equal(t, []int{1, 1}, []int{table.Pieces, table.Early})
}

func TestTableIsCut(t *testing.T) {
	b := NewBuilder(1)
	b.Add(piece(Most, [3]int64{1, 0, 0}, nil))
	b.Add(piece(Most, [3]int64{0, 2, 0}, nil))
	table := b.Table()
	assert.Len(t, table.Sites, Most)
	assert.Equal(t, 2*Most, table.AllSites, "those in blocks without samples are not in it")
	assert.Nil(t, table.Sites[0].Callee, "without call stacks")
	assert.Equal(t, tally.Counts{2}, table.Sites[0].Around)
	assert.Equal(t, 6*Most, table.Calls())
}
