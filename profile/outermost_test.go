package profile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/sampler"
)

// TestOutermost: if a sample is in the outermost function of its thread, its stack is complete although it has no
// frames.
func TestOutermost(t *testing.T) {
	var text strings.Builder
	w := callstack.NewWriter(&text)
	outermost := w.Push(0, callstack.At(callstack.NoCaller, 0))
	unwalked := w.Push(0, callstack.At(callstack.Unwalked, 0))
	require.NoError(t, w.Flush())
	tree, err := callstack.Read(strings.NewReader(text.String()), "stacks.txt")
	require.NoError(t, err)
	b := NewBuilder(choice.Config{
		JVMs:   []capture.JVM{{PID: 1}},
		Trials: []capture.Trial{{Windows: []capture.Window{always(1)}}},
		Stacks: calltree.NewStacks(tree),
	})
	for _, stack := range []callstack.ID{outermost, outermost, unwalked, 0} {
		b.Add(&sampler.Sample{PID: 1, MonoNanos: 1e6, Event: "cycles", PC: 0x7000, Symbol: "clone3", Module: "libc.so.6",
			Stack: stack})
	}
	opts := choice.DefaultOptions()
	opts.Locations = true
	p := build(t, b, opts)[0]
	a := p.Accounts[0]
	assert.EqualValues(t, []int64{4, 2, 2}, []int64{a.Profiled, a.Whole, a.Unwalked})
	at := map[callstack.ID]int64{}
	for _, l := range p.Locations {
		at[l.Stack] += l.Counts[0]
	}
	assert.Equal(t, map[callstack.ID]int64{calltree.NoCaller: 2, unwalked: 1, 0: 1}, at)
	var alone int64
	tops := p.Stacks.TopDown(calltree.Limits{})
	for _, n := range tops.Nodes {
		if n.Name == "clone3" && tops.Nodes[n.Parent].Kind == calltree.Thread {
			alone += n.Self[0]
		}
	}
	assert.EqualValues(t, 2, alone, "its parent is the thread, and not a mark")
}
