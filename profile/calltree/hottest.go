package calltree

import (
	"cmp"

	"github.com/gasm-profiler/gasm/callstack"
)

// A nodeFrame is one of the frames that a node of a tree was made from.
type nodeFrame struct {
	node  int32
	frame *callstack.Frame
}

// A stackSamples counts the samples of one thread that have a given stack as their whole stack, or as its outer part.
type stackSamples struct {
	node int32 // the tree's node for the innermost frame of the stack
	n    int64 // samples of all counters together
}

// addFrames sets the Frame of each node of a tree: of all frames that the node was made from, the one with the most
// samples. number maps the nodes of m to those of the tree.
func (m *merged) addFrames(tree *Tree, number map[int32]int32) {
	best := make([]int64, len(tree.Nodes))
	for at, n := range m.weights() {
		i, kept := number[at.node]
		if !kept {
			continue
		}
		node := &tree.Nodes[i]
		if node.Frame == nil || cmp.Or(cmp.Compare(n, best[i]), compareFrames(node.Frame, at.frame)) > 0 {
			node.Frame, best[i] = at.frame, n
		}
	}
}

// weights returns, for each node and each frame that the node was made from, the number of samples with this frame.
// Samples of all counters are added up.
func (m *merged) weights() map[nodeFrame]int64 {
	weights := map[nodeFrame]int64{}
	stacks := make([][]stackSamples, m.stacks.Len()+1) // by ID
	add := func(id callstack.ID, node int32, n int64) {
		if int64(id) >= int64(len(stacks)) || id == 0 || m.nodes[node].parent <= 0 {
			return // the tree has no node for this frame, or Limits.FromJava leaves the frame out
		}
		for i := range stacks[id] {
			if stacks[id][i].node == node {
				stacks[id][i].n += n
				return
			}
		}
		stacks[id] = append(stacks[id], stackSamples{node, n})
	}
	for i, k := range m.samples {
		n := total(m.of(int32(i)))
		at := m.ends[i]
		for _, f := range m.leaves[k.leaf].frames {
			weights[nodeFrame{at, f}] += n
			at = m.nodes[at].parent
		}
		add(k.stack, at, n)
	}
	for id := callstack.ID(len(stacks) - 1); id > 0; id-- { // a caller has a lower ID
		f, caller := m.stacks.Frame(id)
		for _, s := range stacks[id] {
			weights[nodeFrame{s.node, f}] += s.n
			add(caller, m.nodes[s.node].parent, s.n)
		}
	}
	return weights
}

// compareFrames compares frames of the same code.
func compareFrames(a, b *callstack.Frame) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.CompileID, b.CompileID), cmp.Compare(a.PC, b.PC),
		cmp.Compare(a.BCI, b.BCI), cmp.Compare(a.Line, b.Line))
}
