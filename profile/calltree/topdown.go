package calltree

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// The type merged is the whole tree from threads to sampled code. It has a node for each path, even if the path has few
// samples, so its nodes are smaller than those of a Tree.
type merged struct {
	*Set
	fromJava bool
	from     Pattern // as in [Limits]
	nodes    []mergedNode
	sums     []int64 // samples by node and counter, including everything below the node
	selves   []int64 // samples by node and counter whose path ends at the node
	guesses  []int64 // samples by node whose method is a guess, of all counters together
	ends     []int32 // for each sample of the Set, the node at which its path ends
	index    map[mergedKey]int32
	onStack  map[threadStack]int32 // the nodes of stacks
	path     []callstack.ID
}

type mergedNode struct {
	parent, code, line int32
	kinds              uint16
}

type mergedKey struct{ parent, code int32 }

type threadStack struct {
	thread int32 // a node
	stack  callstack.ID
}

// merge returns the tree of all samples, and keeps it for the next call. fromJava and from are as in [Limits].
func (s *Set) merge(fromJava bool, from Pattern) *merged {
	which := 0
	if fromJava {
		which = 1
	}
	if s.merged[which] != nil && s.merged[which].from == from {
		return s.merged[which]
	}
	m := &merged{Set: s, fromJava: fromJava, from: from, nodes: []mergedNode{{parent: -1, code: -1}},
		guesses: make([]int64, 1),
		index:   map[mergedKey]int32{}, onStack: map[threadStack]int32{}}
	m.ends = make([]int32, len(s.samples))
	for i, k := range s.samples {
		l := &s.leaves[k.leaf]
		thread := int32(0)
		if from == "" {
			thread = m.child(0, step{code: k.thread})
		}
		at := m.stack(thread, k.stack, l.java || s.stacks.java(k.stack))
		for _, f := range slices.Backward(l.steps) {
			at = m.below(at, thread, f)
			if f.guessed && at != thread {
				m.guesses[at] += total(s.of(int32(i)))
			}
		}
		m.ends[i] = at
	}
	m.selves = m.ending(allParts)
	m.sums = m.addUp(slices.Clone(m.selves))
	m.index, m.onStack = nil, nil
	s.merged[which] = m
	return m
}

// allParts is the argument of ending that makes the samples in all parts of a profile count.
const allParts = -1

// ending returns, for each node and counter, the number of samples whose path ends at the node. Only the samples in one
// part of the profile count, or all samples if part is allParts.
func (m *merged) ending(part int32) []int64 {
	selves := make([]int64, len(m.nodes)*m.Set.counters)
	for i, k := range m.samples {
		if part == allParts || part == k.part {
			m.at(selves, m.ends[i]).Add(m.of(int32(i)))
		}
	}
	return selves
}

// addUp adds the samples of each node to those of the nodes above it. It returns its argument.
func (m *merged) addUp(samples []int64) []int64 {
	for i := int32(len(m.nodes)) - 1; i > 0; i-- {
		m.at(samples, m.nodes[i].parent).Add(m.at(samples, i))
	}
	return samples
}

// at returns the counts of node i in a list that has an element for each node and counter.
func (m *merged) at(samples []int64, i int32) tally.Counts {
	return samples[int(i)*m.Set.counters : int(i+1)*m.Set.counters]
}

// sum returns the samples of a node, with everything below it.
func (m *merged) sum(i int32) tally.Counts { return m.at(m.sums, i) }

// child returns the child of a node for the code of a frame. If there is none, it adds one.
func (m *merged) child(parent int32, at step) int32 {
	key := mergedKey{parent, at.code}
	i, ok := m.index[key]
	if !ok {
		i = int32(len(m.nodes))
		m.index[key] = i
		m.nodes = append(m.nodes, mergedNode{parent: parent, code: at.code, line: at.line})
		m.guesses = append(m.guesses, 0)
	}
	n := &m.nodes[i]
	if n.line != at.line {
		n.line = SeveralLines
	}
	n.kinds |= 1 << at.kind
	return i
}

// below does the same as child, except if the tree begins with a certain method (Limits.From). Then frames outside of
// that method get no nodes: for such a frame, below returns the argument start.
func (m *merged) below(parent, start int32, at step) int32 {
	if m.from != "" && parent == start && !m.from.Matches(&m.codes[at.code]) {
		return start
	}
	return m.child(parent, at)
}

// stack returns the node for the innermost frame of a stack. The argument thread is the node above the stack's
// outermost frame: that of a thread, or the root. java is true if there is a Java method in the sample.
func (m *merged) stack(thread int32, id callstack.ID, java bool) int32 {
	if id == NoCaller || m.fromJava && java && m.base(id) {
		return thread
	}
	at := thread
	m.path = m.path[:0]
	for {
		if known, ok := m.onStack[threadStack{thread, id}]; ok {
			at = known
			break
		}
		m.path = append(m.path, id)
		if _, id = m.step(id); id == 0 || m.fromJava && java && m.base(id) {
			break
		}
	}
	for _, id := range slices.Backward(m.path) {
		f, _ := m.step(id)
		at = m.below(at, thread, f)
		m.onStack[threadStack{thread, id}] = at
	}
	return at
}

// Totals returns the samples of each code with everything that it has called. A sample counts once for a code,
// however often the code is among the sample's frames.
func (s *Set) Totals() map[Code]tally.Counts {
	m := s.merge(false, "")
	return m.totals(m.sums)
}

// totals returns the samples of each code. It leaves out the codes that represent threads. For each node, sums has the
// samples of the node itself and of all nodes below it.
func (m *merged) totals(sums []int64) map[Code]tally.Counts {
	totals := make([]tally.Counts, len(m.codes))
	m.walk(func(i int32, outermost bool) {
		code, c := m.nodes[i].code, m.at(sums, i)
		if !outermost || slices.Max(c) == 0 {
			return
		}
		if totals[code] == nil {
			totals[code] = make(tally.Counts, m.Set.counters)
		}
		totals[code].Add(c)
	})
	byCode := map[Code]tally.Counts{}
	for i, c := range totals {
		if c != nil && m.codes[i].Kind != Thread {
			byCode[m.codes[i]] = c
		}
	}
	return byCode
}

// walk calls the function see for each node except the root. i is the index of the node. outermost is true if no node
// above it has the same code.
func (m *merged) walk(see func(i int32, outermost bool)) {
	// a node's first child, and its next sibling; 0 for none
	first, next := make([]int32, len(m.nodes)), make([]int32, len(m.nodes))
	for i := int32(len(m.nodes)) - 1; i > 0; i-- {
		up := m.nodes[i].parent
		first[up], next[i] = i, first[up]
	}
	above := make([]int32, len(m.codes)) // how many nodes of each code are above the node
	for i := first[0]; i > 0; {
		code := m.nodes[i].code
		see(i, above[code] == 0)
		if first[i] != 0 {
			above[code]++
			i = first[i]
			continue
		}
		for i > 0 && next[i] == 0 {
			if i = m.nodes[i].parent; i > 0 {
				above[m.nodes[i].code]--
			}
		}
		i = next[i]
	}
}

// TopDown returns the tree of callees. The nodes below the root are threads, unless the limits name a method.
func (s *Set) TopDown(limits Limits) *Tree {
	m := s.merge(limits.FromJava, limits.From)
	kept := m.keep(limits)
	tree := &Tree{Nodes: make([]Node, 0, len(kept))}
	number := map[int32]int32{} // number of a node in tree, by its number in m
	for _, i := range kept {
		from := &m.nodes[i]
		n := Node{Kinds: from.kinds, Line: int(from.line), Guessed: often(m.guesses[i], m.sum(i)), Parent: -1,
			Counts: slices.Clone(m.sum(i)),
			Self:   slices.Clone(m.selves[int(i)*s.counters : int(i+1)*s.counters]), Omitted: make(tally.Counts, s.counters)}
		if i > 0 {
			n.Code = s.codes[from.code]
			n.Parent = number[from.parent]
			up := &tree.Nodes[n.Parent]
			up.Children = append(up.Children, int32(len(tree.Nodes)))
		}
		number[i] = int32(len(tree.Nodes))
		tree.Nodes = append(tree.Nodes, n)
	}
	for i := int32(1); int(i) < len(m.nodes); i++ {
		if _, ok := number[i]; ok {
			continue
		}
		if up, ok := number[m.nodes[i].parent]; ok {
			tree.Nodes[up].Omitted.Add(m.sum(i))
			tree.Nodes[up].Others++
		}
	}
	if limits.Details {
		m.addParts(tree, number)
		m.addFrames(tree, number)
	}
	for i := range tree.Nodes {
		slices.SortFunc(tree.Nodes[i].Children, func(a, b int32) int {
			x, y := &tree.Nodes[a], &tree.Nodes[b]
			return cmp.Or(tally.Compare(x.Counts, y.Counts), x.compare(&y.Code))
		})
	}
	return tree
}

// keep returns the nodes that have enough samples, in the order of the tree. A node is in the result only if its parent
// is.
func (m *merged) keep(limits Limits) []int32 {
	depths := make([]int32, len(m.nodes))
	total := m.sum(0)
	var kept []int32
	for i := range int32(len(m.nodes)) {
		if i > 0 {
			depths[i] = depths[m.nodes[i].parent] + 1
		}
		// A node has no more samples than its parent, so the parent has enough, too.
		if i == 0 || depths[i] <= maxDepth && share(m.sum(i), total) >= limits.Least {
			kept = append(kept, i)
		}
	}
	if limits.Nodes == 0 || len(kept) <= limits.Nodes {
		return kept
	}
	// A parent has at least as many samples as its child, and a lower index. So it comes before its child here, and if
	// the child is kept, the parent is kept too.
	slices.SortFunc(kept, func(a, b int32) int { return cmp.Or(tally.Compare(m.sum(a), m.sum(b)), cmp.Compare(a, b)) })
	kept = kept[:limits.Nodes]
	slices.Sort(kept)
	return kept
}
