package safepoints

import "github.com/gasm-profiler/gasm/printassembly"

// A tree has the chains of frames of all records in a method. With a tree, it takes little time to find out what two
// chains have in common. Each frame is two nodes: one for its method, and below it one for the bytecode.
type tree struct {
	method string // the compiled method, which is normally the outermost frame of each chain
	nodes  []node
	ids    map[nodeKey]int32
}

type node struct{ parent, depth int32 }

type nodeKey struct {
	parent int32
	method string // "" for a bytecode
	bci    int
}

// root is the node of the chain without frames. The constant all is not a node. It stands for every possible chain, so
// meet(all, b) is b.
const (
	root = 0
	all  = -1
)

func newTree(method string) *tree {
	return &tree{method: method, nodes: make([]node, 1), ids: map[nodeKey]int32{}}
}

func (t *tree) child(parent int32, method string, bci int) int32 {
	key := nodeKey{parent, method, bci}
	id, ok := t.ids[key]
	if !ok {
		id = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{parent, t.nodes[parent].depth + 1})
		t.ids[key] = id
	}
	return id
}

// chain returns the node of a chain's innermost frame. It adds the nodes that the tree does not have yet.
func (t *tree) chain(frames []printassembly.Frame) int32 {
	id := int32(root)
	for i := len(frames) - 1; i >= 0; i-- {
		id = t.child(t.child(id, frames[i].Method, 0), "", frames[i].BCI)
	}
	return id
}

// meet returns the node of the frames that two chains have in common, from the outermost frame inwards. Each chain is
// given by the node of its innermost frame, or by the constant all.
func (t *tree) meet(a, b int32) int32 {
	if a == all {
		return b
	}
	if b == all {
		return a
	}
	for a != b {
		if t.nodes[a].depth >= t.nodes[b].depth {
			a = t.nodes[a].parent
		} else {
			b = t.nodes[b].parent
		}
	}
	return a
}

// findChains sets g.chain.
func (g *graph) findChains(t *tree) {
	g.chain = make([]int32, len(g.insts))
	for i := range g.insts {
		g.chain[i] = none
		if g.insts[i].OwnFrames {
			g.chain[i] = t.chain(g.insts[i].Frames)
		}
	}
}

// around returns, for each instruction, the outer frames that the nearest records have in common. The nearest records
// are the first two on each way that control may take from the instruction, and the last two on each way to it. One
// record in each direction is too few, because the compilers move instructions past records.
func (g *graph) around(t *tree) []int32 {
	ahead := g.agreed(t, g.chain, &g.from, &g.into, false)
	ahead = g.agreed(t, t.meets(g.chain, ahead), &g.from, &g.into, false)
	behind := g.agreed(t, g.chain, &g.into, &g.from, true)
	behind = g.agreed(t, t.meets(g.chain, behind), &g.into, &g.from, true)
	for i := range ahead {
		ahead[i] = t.meet(ahead[i], behind[i])
	}
	return ahead
}

// meets returns a list with t.meet(chains[i], others[i]) for each instruction i. If the instruction has no record, and
// so no chain, the element is the constant none.
func (t *tree) meets(chains, others []int32) []int32 {
	out := make([]int32, len(chains))
	for i, c := range chains {
		if out[i] = none; c >= 0 {
			out[i] = t.meet(c, others[i])
		}
	}
	return out
}

// agreed returns, for each instruction, the outer frames that the nearest records in one direction have in common. On
// each way along the given edges, it looks at the first record that it comes to. chains has the nodes of the records,
// and back has the same edges in reverse. toStart is true if the edges lead towards the start of the method.
//
// An instruction has no edges if the method begins or is left there. Then only the method itself is certain, and the
// result is the method's node.
func (g *graph) agreed(t *tree, chains []int32, along, back *edges, toStart bool) []int32 {
	method := t.child(root, t.method, 0)
	value := make([]int32, len(g.insts))
	waiting := make([]bool, len(g.insts))
	work := make([]int32, len(g.insts))
	for i := range value {
		value[i], waiting[i], work[i] = all, true, int32(i)
		if !toStart { // so that the last instruction is taken first, put it at the end of work
			continue
		}
		work[i] = int32(len(value) - 1 - i)
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work, waiting[i] = work[:len(work)-1], false
		v := int32(all)
		for _, e := range along.of(i) {
			if c := chains[e.to]; c >= 0 {
				v = t.meet(v, c)
			} else {
				v = t.meet(v, value[e.to])
			}
		}
		if len(along.of(i)) == 0 && (toStart || g.leaves(i)) {
			v = method
		}
		if v == value[i] {
			continue
		}
		value[i] = v
		if chains[i] >= 0 {
			continue // its neighbours look only at its own record
		}
		for _, e := range back.of(i) {
			if !waiting[e.to] {
				waiting[e.to] = true
				work = append(work, e.to)
			}
		}
	}
	return value
}
