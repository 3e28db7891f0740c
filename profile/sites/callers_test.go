package sites

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
)

func frame(method string, line int) event.Frame {
	return event.Frame{Method: method, BCI: 1, Line: line}
}

// lines writes a line for each node of a tree.
func lines(tree *calltree.Tree) (list []string) {
	for _, n := range tree.Nodes {
		list = append(list, fmt.Sprintf("%d %s:%d %v self %v omitted %v of %d", n.Parent, n.Label(), n.Line, n.Counts, n.Self,
			n.Omitted, n.Others))
	}
	return list
}

func TestCallers(t *testing.T) {
	place, run := frame("Cache::get", 5), frame("Thread::run", 1)
	stacks := []Stack{
		{Frames: []event.Frame{place, frame("Server::handle", 8), run}, Weight: 60, Count: 3},
		{Frames: []event.Frame{place, frame("Server::handle", 9), run}, Weight: 30, Count: 4},
		{Frames: []event.Frame{place, frame("Server::handle", 8)}, Cut: true, Weight: 7, Count: 1},
		{Frames: []event.Frame{place}, Weight: 2, Count: 1},
		{Frames: []event.Frame{place, frame("Main::main", 3)}, Weight: 1, Count: 1},
	}
	assert.Equal(t, []string{
		"-1 Cache::get:5 [100 10] self [2 1] omitted [1 1] of 1",
		"0 Server::handle:8 [67 4] self [0 0] omitted [0 0] of 0",
		"0 Server::handle:9 [30 4] self [0 0] omitted [0 0] of 0",
		"1 Thread::run:1 [60 3] self [60 3] omitted [0 0] of 0",
		"1 [cut]:0 [7 1] self [7 1] omitted [0 0] of 0",
		"2 Thread::run:1 [30 4] self [30 4] omitted [0 0] of 0",
	}, lines(Callers(stacks, calltree.Limits{Least: 0.05})))
	assert.Equal(t, []string{
		"-1 Cache::get:5 [100 10] self [2 1] omitted [31 5] of 2",
		"0 Server::handle:8 [67 4] self [0 0] omitted [67 4] of 2",
	}, lines(Callers(stacks, calltree.Limits{Nodes: 2})))
	assert.Nil(t, Callers(nil, calltree.Limits{}))
}

// Events with the same stack are one Stack, even if their frames inside the place differ.
func TestStacksOfEvents(t *testing.T) {
	inner := []event.Frame{frame("jdk.internal.misc.Unsafe::park", 0), frame("Pool::take", 7), frame("Main::main", 3)}
	other := []event.Frame{frame("java.lang.Object::wait", 0), frame("Pool::take", 7), frame("Worker::run", 4)}
	var c Counter
	add := func(kind event.Kind, frames []event.Frame, nanos, bytes int64) {
		e := event.Event{Kind: kind, Name: "java.lang.Object", Frames: frames, Nanos: nanos, Bytes: bytes,
			Truncated: len(frames) > 0 && &frames[0] == &other[0]}
		require.True(t, Counts(&e))
		c.Add(&e, event.SiteOwn, jvmcode.Ref{}, 0)
	}
	add(event.Park, inner, 5, 0)
	add(event.Park, inner, 6, 0)
	add(event.Park, other, 20, 0)
	add(event.Park, nil, 1, 0)
	add(event.Alloc, inner, 0, 0)
	add(event.Alloc, inner, 0, 0)

	parks := c.Parks()
	require.Len(t, parks, 2)
	assert.Equal(t, []Stack{{Frames: other[1:], Cut: true, Weight: 20, Count: 1},
		{Frames: inner[1:], Weight: 11, Count: 2}}, parks[0].Stacks)
	assert.Empty(t, parks[1].Stacks, "there was none")
	allocs := c.Allocs(nil, event.SiteOwn)
	require.Len(t, allocs, 1)
	assert.Equal(t, []Stack{{Frames: inner[1:], Weight: 2, Count: 2}}, allocs[0].Stacks, "no sizes are known")

	add(event.Alloc, inner, 0, math.MaxInt64)
	add(event.Alloc, inner, 0, math.MaxInt64)
	allocs = c.Allocs(nil, event.SiteOwn)
	assert.EqualValues(t, maxBytes, allocs[0].Bytes)
	assert.Equal(t, []Stack{{Frames: inner[1:], Weight: maxBytes, Count: 4}}, allocs[0].Stacks)
}

// Beyond maxStacks, further stacks have no callers, but their events count.
func TestManyStacks(t *testing.T) {
	var c Counter
	const more = 10
	for i := range maxStacks + more {
		e := event.Event{Kind: event.Lock, Name: "A", Nanos: int64(i),
			Frames: []event.Frame{frame("A::a", 1), frame("B::b", 2)}}
		c.Add(&e, event.SiteOwn, jvmcode.Ref{}, 0)
	}
	locks := c.Locks()
	require.Len(t, locks, 1)
	assert.Equal(t, maxStacks+more, locks[0].Count)
	tree := Callers(locks[0].Stacks, calltree.Limits{})
	assert.EqualValues(t, maxStacks, tree.Nodes[0].Counts[1])
}
