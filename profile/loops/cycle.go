package loops

// worst returns the cycle of registers that limits the rounds of a loop: the one with the largest mean of delays. A
// value may need several rounds to come back to the register in which it was. The cycle is a list of registers, each of
// which depends on the one before it, a round earlier, and the first one on the last. It is empty if no value is carried
// from round to round. worst also returns the cycles that all rounds of the cycle take together.
//
// It is the cycle of largest mean weight of Karp's algorithm.
func worst(d *delays) (cycle []reg, cycles int) {
	const n = registers
	const unreached = -1 << 30
	// best[k][v] is the largest sum of delays of a walk over k edges that ends in v; it may begin anywhere.
	var best [n + 1][n]int32
	for k := 1; k <= n; k++ {
		for to := range n {
			best[k][to] = unreached
			for from := range n {
				if w := d[to][from]; w != never && best[k-1][from] != unreached {
					best[k][to] = max(best[k][to], best[k-1][from]+w)
				}
			}
		}
	}
	num, den := int64(-1), int64(1) // the largest mean
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
	if num < 0 {
		return nil, 0
	}
	cycle = tight(d, num, den)
	for i, to := range cycle {
		cycles += int(d[to][cycle[(i+len(cycle)-1)%len(cycle)]])
	}
	return cycle, cycles
}

// tight returns a cycle whose mean delay is num/den, which is the largest one.
func tight(d *delays, num, den int64) []reg {
	const n = registers
	var potential [n]int64 // largest sum of delay·den - num of a walk to each register: no cycle has a positive one
	for range n {
		for to := range n {
			for from := range n {
				if w := d[to][from]; w != never {
					potential[to] = max(potential[to], potential[from]+int64(w)*den-num)
				}
			}
		}
	}
	const open, closed = 1, 2
	var state [n]int
	var path []reg
	var found []reg
	var walk func(r reg) bool
	walk = func(r reg) bool {
		state[r] = open
		path = append(path, r)
		for to := range reg(n) {
			w := d[to][r]
			if w == never || potential[to] != potential[r]+int64(w)*den-num || state[to] == closed {
				continue
			}
			if state[to] == open {
				for i, p := range path {
					if p == to {
						found = append(found, path[i:]...)
					}
				}
				return true
			}
			if walk(to) {
				return true
			}
		}
		state[r] = closed
		path = path[:len(path)-1]
		return false
	}
	for r := range reg(n) {
		if state[r] == 0 && walk(r) {
			return found
		}
	}
	return nil
}
