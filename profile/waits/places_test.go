package waits

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/wall"
)

// TestDeepStack checks that only the innermost frames of a very deep stack are looked at, which then counts as cut.
func TestDeepStack(t *testing.T) {
	const depth = 2 * mostFrames
	methods := make([]string, depth)
	for i := range methods {
		methods[i] = "Deep::f" + strconv.Itoa(i)
	}
	methods[0] = queueFrames[0]
	r := record()
	id := r.stack(methods...)
	near := r.stack(queueFrames[0], "Deep::near")
	require.NoError(t, r.Flush())
	read := wall.NewReader(&r.text, "wall")
	for read.Scan() {
		require.NotNil(t, read.Record())
	}
	require.NoError(t, read.Err())
	p := newPlaceFinder(calltree.NewStacks(read.Stacks()), event.SiteInnermost)

	frames, cut := p.place(id, wall.Sleep)
	assert.Equal(t, mostFrames, len(frames)) // assert.Len would print all
	assert.True(t, cut)
	assert.Equal(t, "Deep::f"+strconv.Itoa(depth-1), frames[0].Method)
	assert.False(t, p.inQueue(id), "the queue is farther out than gasm looks")

	frames, cut = p.place(near, wall.Sleep)
	assert.Len(t, frames, 2)
	assert.False(t, cut)
	assert.True(t, p.inQueue(near))
}
