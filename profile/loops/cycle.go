package loops

// A graph has registers as its nodes. An edge from one register to another says that the value of the second depends on
// the value that the first had one round earlier.
type graph struct {
	regs   []reg
	delays [][]int32 // delays[to][from], with indexes in regs; never if there is no edge
}

// newGraph returns the graph of the delays over a round. It leaves out the registers that a loop does not change, and
// those whose new values depend on nothing.
func newGraph(d *delays) *graph {
	g := &graph{}
	for r := range reg(registers) {
		for from, w := range d[r] {
			if w != never && (int(r) != from || w > 0) {
				g.regs = append(g.regs, r)
				break
			}
		}
	}
	for _, to := range g.regs {
		row := make([]int32, len(g.regs))
		for i, from := range g.regs {
			row[i] = d[to][from]
		}
		g.delays = append(g.delays, row)
	}
	return g
}

// worst returns the cycle of registers that limits the rounds of a loop: the one with the largest mean of delays. A
// value may need several rounds to come back to the register in which it was. The cycle is a list of registers, each of
// which depends on the value that the one before it had one round earlier. The first register depends on the last in
// the same way. It is empty if no value that takes time is carried from round to round. The second result is the number
// of clock cycles that all rounds of this cycle take together.
func worst(d *delays) (cycle []reg, cycles int) {
	g := newGraph(d)
	num, den := g.largestMean()
	if num <= 0 {
		return nil, 0
	}
	cycle = g.tight(num, den)
	for i, to := range cycle {
		cycles += int(d[to][cycle[(i+len(cycle)-1)%len(cycle)]])
	}
	return cycle, cycles
}

// largestMean returns the largest mean delay of a cycle, as a fraction, by Karp's algorithm. It returns 0 if there is
// no cycle.
func (g *graph) largestMean() (num, den int64) {
	const unreached = -1 << 30
	n := len(g.regs)
	best := make([][]int32, n+1) // best[k][v] is the largest sum of delays of a walk over k edges that ends in v
	best[0] = make([]int32, n)
	for k := 1; k <= n; k++ {
		best[k] = make([]int32, n)
		for to, row := range g.delays {
			best[k][to] = unreached
			for from, w := range row {
				if w != never && best[k-1][from] != unreached {
					best[k][to] = max(best[k][to], best[k-1][from]+w)
				}
			}
		}
	}
	num, den = 0, 1
	for v := range n {
		if best[n][v] == unreached {
			continue
		}
		least, of := int64(0), int64(0)
		for k := range n {
			if best[k][v] == unreached {
				continue
			}
			if a, b := int64(best[n][v]-best[k][v]), int64(n-k); of == 0 || a*of < least*b {
				least, of = a, b
			}
		}
		if of > 0 && least*den > num*of {
			num, den = least, of
		}
	}
	return num, den
}

// tight returns a cycle whose mean delay is num/den, which is the largest one.
func (g *graph) tight(num, den int64) []reg {
	n := len(g.regs)
	// Delays minus the mean add up to at most 0 in each cycle. So among the walks that end at a register, there is a
	// largest sum of these differences, which is called the register's potential. A cycle has the largest mean if,
	// along each of its edges, the potential grows by exactly the edge's difference.
	weight := func(to, from int) int64 { return int64(g.delays[to][from])*den - num }
	potential := make([]int64, n)
	for range n {
		for to := range n {
			for from := range n {
				if g.delays[to][from] != never {
					potential[to] = max(potential[to], potential[from]+weight(to, from))
				}
			}
		}
	}
	const open, closed = 1, 2
	state := make([]int, n)
	var path []int
	var walk func(r int) []reg
	walk = func(r int) []reg {
		state[r] = open
		path = append(path, r)
		for to := range n {
			if g.delays[to][r] == never || potential[to] != potential[r]+weight(to, r) || state[to] == closed {
				continue
			}
			if state[to] == open {
				var found []reg
				for _, p := range path {
					if p == to || len(found) > 0 {
						found = append(found, g.regs[p])
					}
				}
				return found
			}
			if found := walk(to); found != nil {
				return found
			}
		}
		state[r] = closed
		path = path[:len(path)-1]
		return nil
	}
	for r := range n {
		if state[r] == 0 {
			if found := walk(r); found != nil {
				return found
			}
		}
	}
	return nil
}
