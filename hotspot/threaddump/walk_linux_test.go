package threaddump

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/stack"
)

// TestSetFrames: long names are cut, and so are long stacks.
func TestSetFrames(t *testing.T) {
	long := strings.Repeat("x", longestName+1)
	place := stack.Place{Frame: callstack.Frame{Name: long, Module: long}, Method: nmethod.Frame{Source: long}}
	var thread Thread
	thread.setFrames([]stack.Place{place, {Method: nmethod.Frame{Source: "A.java", Native: true}}}, false)
	assert.Equal(t, Whole, thread.Stack)
	require.Len(t, thread.Frames, 2)
	cut := long[1:] + "…"
	f := thread.Frames[0]
	assert.Equal(t, []string{cut, cut, cut}, []string{f.Name, f.Module, f.Source})
	assert.Equal(t, Frame{Source: "A.java", Native: true}, thread.Frames[1])

	thread = Thread{}
	thread.setFrames(make([]stack.Place, MaxFrames+1), false)
	assert.Equal(t, Partly, thread.Stack)
	assert.Len(t, thread.Frames, MaxFrames)
}
