package calltree

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Tree is a tree of callers or callees. The first node is the root, and each node comes after its parent.
type Tree struct {
	Nodes []Node
}

// A Node is a method or a function on a path of calls.
type Node struct {
	Code
	// Kinds has a bit 1<<k for each kind k of the node's frames. There may be several for a Java method.
	Kinds uint16
	// Line is the line of the frames in the source. It is 0 if it is unknown, and SeveralLines if there are several.
	Line    int
	Guessed bool // the method is a guess for 1 % of the samples or more
	Parent  int32
	// Children are the next nodes on the path, those with the most samples first.
	Children []int32
	Counts   tally.Counts // all samples of the node
	Self     tally.Counts // the samples whose path ends here
	// Omitted has the samples of further children, which are not in the tree because they have too few. Others is the
	// number of these children.
	Omitted tally.Counts
	Others  int
	// A node may be made from several frames; Frame is the one of them that has the most samples. It is nil for a thread,
	// and for a mark in place of an unknown stack. Frame, SelfParts and OmittedParts are set only if Limits.Details is
	// true.
	Frame *callstack.Frame
	// SelfParts and OmittedParts have the same samples as Self and Omitted, but separately for each part of the
	// profile, in the order of the parts.
	SelfParts, OmittedParts []PartCounts
}

// PartCounts are the samples in one part of a profile.
type PartCounts struct {
	Part   int
	Counts tally.Counts
}

// SeveralLines is the Line of a node whose frames are at several lines.
const SeveralLines = -1

// Only reports whether all frames of a node are of one kind.
func (n *Node) Only(k callstack.Kind) bool { return n.Kinds == 1<<k }

// add updates Line and Kinds for one more frame that becomes part of the node.
func (n *Node) add(at step) {
	switch {
	case n.Kinds == 0:
		n.Line = int(at.line)
	case n.Line != int(at.line):
		n.Line = SeveralLines
	}
	n.Kinds |= 1 << at.kind
}

// total returns the samples of all counters together.
func total(c tally.Counts) (sum int64) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// often reports whether guesses, the number of samples whose method is a guess, is at least 1 % of all samples. Fewer
// guesses are not worth a mark. For example, if a method spends nearly all its time in what it calls, its frames are
// exact in nearly all samples, because the frames at calls are always known.
func often(guesses int64, all tally.Counts) bool { return guesses > 0 && 100*guesses >= total(all) }

// Limits say which nodes a Tree has.
type Limits struct {
	// Least is the share of the samples at the root, from 0 to 1, that a node must have.
	Least float64
	// Nodes is the maximum number of nodes. If there are more, those with the fewest samples are left out.
	Nodes int
	// FromJava leaves out native frames outside of the outermost Java method, such as the JVM's start of a thread. They
	// stay if the stack is not whole, or if there is no Java method.
	FromJava bool
	// From is the method with which a tree of callees begins, in place of the threads. If the method calls itself, the
	// outermost of its frames counts. Samples without the method are added to the root. If From is "", the tree begins
	// with the threads.
	From Pattern
	// Details asks for Node.Frame, Node.SelfParts and Node.OmittedParts. Only the trees that TopDown returns have them.
	Details bool
}

// maxDepth is the maximum depth of a Tree. A HotSpot stack of 1 MB has room for 10,000 frames, but nobody reads so
// many.
const maxDepth = 1000

// base reports whether a stack has all its frames but no Java method. If the sampled code is Java, these frames are
// outside of the outermost Java method, and Limits.FromJava leaves them out.
func (s *Set) base(id callstack.ID) bool { return s.stacks.End(id) == Whole && !s.stacks.java(id) }

// Callers returns trees of callers, one for each of the n codes in which the most samples were taken. The root of a
// tree is the sampled code.
func (s *Set) Callers(n int, limits Limits) []*Tree {
	byCode := map[int32][]cursor{}
	for i, k := range s.samples {
		code := s.leaves[k.leaf].steps[0].code
		byCode[code] = append(byCode[code], cursor{int32(i), 0, 0})
	}
	type row struct {
		code    int32
		cursors []cursor
		counts  tally.Counts
	}
	rows := make([]row, 0, len(byCode))
	for code, cursors := range byCode {
		rows = append(rows, row{code, cursors, s.sum(cursors)})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(tally.Compare(a.counts, b.counts), s.codes[a.code].compare(&s.codes[b.code]))
	})
	trees := make([]*Tree, 0, min(n, len(rows)))
	for _, r := range rows[:min(n, len(rows))] {
		b := callerTree{Set: s, limits: limits, tree: &Tree{}}
		b.add(-1, r.code, r.cursors, r.counts)
		for i := 0; i < len(b.tree.Nodes); i++ { // Nodes grows meanwhile
			b.expand(int32(i))
		}
		trees = append(trees, b.tree)
	}
	return trees
}

// A cursor points to a frame of a sample.
type cursor struct {
	sample int32
	leaf   int32        // index of the frame in the sample's leaf; -1 for a frame on the stack
	stack  callstack.ID // for a frame on the stack: the stack whose innermost frame it is
}

// sum adds up the samples that have a cursor pointing to one of their frames.
func (s *Set) sum(cursors []cursor) tally.Counts {
	sum := make(tally.Counts, s.counters)
	for _, c := range cursors {
		sum.Add(s.of(c.sample))
	}
	return sum
}

// A callerTree is a tree of callers that is being made, level by level.
type callerTree struct {
	*Set
	limits  Limits
	tree    *Tree
	cursors [][]cursor // the cursors of each node, by its index
	depths  []int
}

// add adds a node for frames of the same code. The cursors point to these frames.
func (b *callerTree) add(parent, code int32, cursors []cursor, counts tally.Counts) {
	n := Node{Code: b.codes[code], Parent: parent, Counts: counts, Self: make(tally.Counts, b.Set.counters),
		Omitted: make(tally.Counts, b.Set.counters)}
	guesses := int64(0)
	for _, c := range cursors {
		at := b.at(c)
		n.add(at)
		if at.guessed {
			guesses += total(b.of(c.sample))
		}
	}
	n.Guessed = often(guesses, counts)
	depth := 0
	if parent >= 0 {
		up := &b.tree.Nodes[parent]
		up.Children = append(up.Children, int32(len(b.tree.Nodes)))
		depth = b.depths[parent] + 1
	}
	b.tree.Nodes = append(b.tree.Nodes, n)
	b.cursors = append(b.cursors, cursors)
	b.depths = append(b.depths, depth)
}

// at returns the frame that a cursor points to.
func (b *callerTree) at(c cursor) step {
	if c.leaf >= 0 {
		return b.leaves[b.samples[c.sample].leaf].steps[c.leaf]
	}
	at, _ := b.step(c.stack)
	return at
}

// next returns a cursor to the caller of the frame that c points to. It returns false if there is no caller.
func (b *callerTree) next(c cursor) (cursor, bool) {
	k := b.samples[c.sample]
	l := &b.leaves[k.leaf]
	stack := k.stack
	switch {
	case c.leaf >= 0 && int(c.leaf)+1 < len(l.steps):
		c.leaf++
		return c, true
	case c.leaf < 0:
		if _, stack = b.step(c.stack); stack == 0 {
			return c, false
		}
	}
	if stack == NoCaller || b.limits.FromJava && (l.java || b.stacks.java(k.stack)) && b.base(stack) {
		return c, false
	}
	return cursor{c.sample, -1, stack}, true
}

// expand adds the children of a node.
func (b *callerTree) expand(i int32) {
	groups := map[int32][]cursor{}
	n := &b.tree.Nodes[i]
	for _, c := range b.cursors[i] {
		up, ok := b.next(c)
		switch {
		case !ok:
			n.Self.Add(b.of(c.sample))
		case b.depths[i] >= maxDepth:
			n.Omitted.Add(b.of(c.sample))
		default:
			code := b.at(up).code
			groups[code] = append(groups[code], up)
		}
	}
	b.cursors[i] = nil
	type child struct {
		code   int32
		counts tally.Counts
	}
	children := make([]child, 0, len(groups))
	for code, cursors := range groups {
		children = append(children, child{code, b.sum(cursors)})
	}
	slices.SortFunc(children, func(x, y child) int {
		return cmp.Or(tally.Compare(x.counts, y.counts), b.codes[x.code].compare(&b.codes[y.code]))
	})
	for _, c := range children {
		if share(c.counts, b.tree.Nodes[0].Counts) < b.limits.Least || b.limits.Nodes > 0 &&
			len(b.tree.Nodes) >= b.limits.Nodes {
			b.tree.Nodes[i].Omitted.Add(c.counts)
			b.tree.Nodes[i].Others++
			continue
		}
		b.add(i, c.code, groups[c.code], c.counts)
	}
}
