package safepoints

// maxNesting is the maximum depth at which findLoops still looks for inner loops. Without this limit, a damaged log
// could take too much time.
const maxNesting = 24

// A region is a loop, or the whole method, whose inner loops are still to be found.
type region struct {
	nodes []int32
	loop  int32
	depth int
}

// findLoops finds the loops. It also lengthens each edge that leaves a loop, see leave.
//
// In a loop, each instruction can reach all others. To find the inner loops, findLoops ignores the edges that lead back
// to the instructions at which the outer loop is entered. The loops that are still there are the inner ones.
func (g *graph) findLoops() {
	n := len(g.insts)
	f := finder{graph: g, in: make([]int32, n), head: make([]bool, n), index: make([]int32, n), low: make([]int32, n),
		open: make([]bool, n)}
	g.loop = make([]int32, n)
	nodes := make([]int32, n)
	for i := range nodes {
		nodes[i], g.loop[i] = int32(i), none
	}
	for todo := []region{{nodes, none, 0}}; len(todo) > 0; {
		r := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, loop := range f.components(r.nodes) {
			id := int32(len(g.parent))
			g.parent = append(g.parent, r.loop)
			f.enter(loop, id)
			if r.depth < maxNesting {
				todo = append(todo, region{loop, id, r.depth + 1})
			}
		}
	}
	if len(g.parent) == 0 {
		return
	}
	for i := range int32(n) {
		for k := range g.from.of(i) {
			e := &g.from.of(i)[k]
			if !g.out[e.to] { // a stub belongs to the jump that leads to it
				e.length += leave * g.left(g.loop[i], g.loop[e.to])
			}
		}
		for k := range g.into.of(i) {
			e := &g.into.of(i)[k]
			if !g.out[i] {
				e.length += leave * g.left(g.loop[e.to], g.loop[i])
			}
		}
	}
}

// left returns the number of loops that the program leaves when it goes from one loop to another.
func (g *graph) left(from, to int32) (n int32) {
	for from != to {
		switch {
		case from > to: // a loop has a higher number than the loops around it
			from = g.parent[from]
			n++
		default:
			to = g.parent[to]
		}
	}
	return n
}

// A finder finds strongly connected components, with Tarjan's algorithm.
type finder struct {
	*graph
	in    []int32 // the number of each instruction's innermost loop so far, plus one; 0 if there is none
	head  []bool  // the instruction is an entry of its innermost loop so far; edges to it are ignored
	index []int32 // the order in which instructions were reached, from 1 on; 0 if not reached yet
	low   []int32
	open  []bool
	last  int32
}

// enter turns a strongly connected component into the loop with the number id. nodes are its instructions. The method
// also finds out at which of them control enters the loop.
func (f *finder) enter(nodes []int32, id int32) {
	for _, v := range nodes {
		f.in[v] = id + 1
		f.loop[v] = id
	}
	entered := false
	for _, v := range nodes {
		f.head[v] = false
		for _, e := range f.into.of(v) {
			if f.in[e.to] != id+1 {
				f.head[v], entered = true, true
				break
			}
		}
	}
	if !entered {
		f.head[nodes[len(nodes)-1]] = true
	}
}

// components returns the strongly connected components of some instructions. A single instruction counts as a component
// only if it jumps to itself.
func (f *finder) components(nodes []int32) (found [][]int32) {
	type call struct {
		node int32
		edge int
	}
	for _, v := range nodes {
		f.index[v] = 0
	}
	var calls []call
	var stack []int32
	reach := func(v int32) {
		f.last++
		f.index[v], f.low[v], f.open[v] = f.last, f.last, true
		stack = append(stack, v)
		calls = append(calls, call{v, 0})
	}
	for _, start := range nodes {
		if f.index[start] != 0 {
			continue
		}
		reach(start)
		for len(calls) > 0 {
			c := &calls[len(calls)-1]
			v := c.node
			if edges := f.from.of(v); c.edge < len(edges) {
				w := edges[c.edge].to
				c.edge++
				switch {
				case f.in[w] != f.in[v] || f.head[w]:
				case f.index[w] == 0:
					reach(w)
				case f.open[w]:
					f.low[v] = min(f.low[v], f.index[w])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				caller := calls[len(calls)-1].node
				f.low[caller] = min(f.low[caller], f.low[v])
			}
			if f.low[v] != f.index[v] {
				continue
			}
			at := len(stack) - 1
			for ; stack[at] != v; at-- {
				f.open[stack[at]] = false
			}
			f.open[v] = false
			if component := stack[at:]; len(component) > 1 || f.toItself(v) {
				found = append(found, append([]int32(nil), component...))
			}
			stack = stack[:at]
		}
	}
	return found
}

// toItself reports whether there is an edge from an instruction to itself.
func (f *finder) toItself(v int32) bool {
	for _, e := range f.from.of(v) {
		if e.to == v && !f.head[v] {
			return true
		}
	}
	return false
}
