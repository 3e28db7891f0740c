package sites

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Stack is the stack of events at a place, from the place to the outermost frame.
type Stack struct {
	Frames []event.Frame
	Cut    bool  // the outermost frames are missing
	Weight int64 // how long the events took in ns, or how many bytes they allocated
	Count  int   // of events
}

// A stackKey identifies a stack by its slice of frames, because events with the same stack share the slice.
type stackKey struct {
	first *event.Frame
	n     int
}

// stackCounts are the stacks of the events at one place.
type stackCounts map[stackKey]*Stack

// maxStacks limits the number of Stacks of a Counter. For comparison, a recording of an hour has about ten thousand
// different stacks. When the limit is reached, events with a new stack are counted without it, so they are missing from
// the trees of callers.
const maxStacks = 1 << 18

// addStack adds an event to the counts of its stack. The parameter to has the stacks of all events at the event's
// place.
func (t *Counter) addStack(to *stackCounts, frames []event.Frame, cut bool, weight int64, count int) {
	if len(frames) == 0 {
		return
	}
	key := stackKey{&frames[0], len(frames)}
	s := (*to)[key]
	if s == nil {
		if t.stacks >= maxStacks {
			return
		}
		t.stacks++
		if *to == nil {
			*to = stackCounts{}
		}
		s = &Stack{Frames: frames, Cut: cut}
		(*to)[key] = s
	}
	s.Weight += weight
	s.Count += count
}

// sorted returns the stacks, those with the largest weight first.
func (c stackCounts) sorted() []Stack {
	var all []Stack
	for _, s := range c {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Stack) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Count, a.Count),
			slices.CompareFunc(a.Frames, b.Frames, compareFrames))
	})
	return all
}

// Callers returns the tree of the callers of a place. Its root is the place, and the children of a node are its
// callers. Each line of a method has a node of its own. The Counts of a node are the weight and the number of the
// events that came from there. Callers returns nil if there are no stacks. Of the limits, only Least and Nodes apply.
func Callers(stacks []Stack, limits calltree.Limits) *calltree.Tree {
	if len(stacks) == 0 {
		return nil
	}
	b := callerTree{stacks: stacks, limits: limits, tree: &calltree.Tree{}}
	all := make([]int32, len(stacks))
	for i := range stacks {
		all[i] = int32(i)
	}
	b.add(-1, caller{all, b.sum(all), b.step(0, 0)})
	for i := 0; i < len(b.tree.Nodes); i++ { // Nodes grows meanwhile
		b.expand(int32(i))
	}
	return b.tree
}

// A callerTree is a tree of callers that is being made, level by level.
type callerTree struct {
	stacks []Stack
	limits calltree.Limits
	tree   *calltree.Tree
	of     [][]int32 // for each node: the indexes of the stacks that it is on
	depths []int     // for each node: the index of its frame in Stack.Frames
}

// A caller is a frame that several stacks have at the same depth.
type caller struct {
	stacks []int32
	counts tally.Counts
	step
}

// A step tells frames apart.
type step struct {
	frame event.Frame // the frame without its BCI; empty if frames are missing from here on
	cut   bool
}

// step returns the frame of a stack at a depth. If the stack is cut, the depth may be that of the first missing frame.
func (b *callerTree) step(stack int32, depth int) step {
	s := &b.stacks[stack]
	if depth == len(s.Frames) {
		return step{cut: true}
	}
	return step{frame: event.Frame{Method: s.Frames[depth].Method, Line: s.Frames[depth].Line}}
}

func (b *callerTree) sum(stacks []int32) tally.Counts {
	sum := make(tally.Counts, 2)
	for _, i := range stacks {
		sum.Add(tally.Counts{b.stacks[i].Weight, int64(b.stacks[i].Count)})
	}
	return sum
}

// add adds a node.
func (b *callerTree) add(parent int32, c caller) {
	code := calltree.Code{Kind: callstack.Compiled, Name: c.frame.Method}
	if c.cut {
		code = calltree.Code{Kind: callstack.Cut}
	}
	depth := 0
	if parent >= 0 {
		depth = b.depths[parent] + 1
		up := &b.tree.Nodes[parent]
		up.Children = append(up.Children, int32(len(b.tree.Nodes)))
	}
	b.tree.Nodes = append(b.tree.Nodes, calltree.Node{Code: code, Kinds: 1 << code.Kind, Line: c.frame.Line,
		Parent: parent,
		Counts: c.counts, Self: make(tally.Counts, 2), Omitted: make(tally.Counts, 2)})
	b.of = append(b.of, c.stacks)
	b.depths = append(b.depths, depth)
}

// expand adds the children of a node.
func (b *callerTree) expand(i int32) {
	depth := b.depths[i] + 1
	groups := map[step][]int32{}
	for _, s := range b.of[i] {
		switch n := len(b.stacks[s].Frames); {
		case depth < n || depth == n && b.stacks[s].Cut:
			at := b.step(s, depth)
			groups[at] = append(groups[at], s)
		default:
			b.tree.Nodes[i].Self.Add(b.sum([]int32{s}))
		}
	}
	b.of[i] = nil
	children := make([]caller, 0, len(groups))
	for at, stacks := range groups {
		children = append(children, caller{stacks, b.sum(stacks), at})
	}
	slices.SortFunc(children, func(x, y caller) int {
		return cmp.Or(tally.Compare(x.counts, y.counts), compareFrames(x.frame, y.frame))
	})
	for _, c := range children {
		if float64(c.counts[0]) < b.limits.Least*float64(b.tree.Nodes[0].Counts[0]) || b.limits.Nodes > 0 &&
			len(b.tree.Nodes) >= b.limits.Nodes {
			n := &b.tree.Nodes[i]
			n.Omitted.Add(c.counts)
			n.Others++
			continue
		}
		b.add(i, c)
	}
}
