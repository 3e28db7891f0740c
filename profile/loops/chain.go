package loops

// never is the delay from one register to another if the other does not depend on the first.
const never = -1

// delays describes a sequence of instructions by the delays that it causes between registers. For registers a and b,
// delays[a][b] is the minimum number of cycles from the moment at which b has its value at the beginning of the
// sequence to the moment at which a has its value at the end.
type delays [registers][registers]int32

// start sets the delays before the first instruction: each register depends on itself.
func (d *delays) start() {
	for to := range d {
		for from := range d[to] {
			d[to][from] = never
		}
		d[to][to] = 0
	}
}

// meet joins the delays of two paths that lead to the same block. It keeps the shorter delay of each pair of registers,
// because only that is a lower bound for both paths.
func (d *delays) meet(other *delays) {
	for to := range d {
		for from := range d[to] {
			d[to][from] = min(d[to][from], other[to][from])
		}
	}
}

// step updates the delays as if an instruction with the effect e was executed next. result is scratch memory.
func (d *delays) step(e *effect, m model, result *[registers]int32) {
	if e.unknown {
		for to := range d {
			for from := range d[to] {
				d[to][from] = never
			}
		}
		return
	}
	if len(e.writes) > 0 {
		for i := range result {
			result[i] = never
		}
		d.wait(e.data, e.latency[m], result)
		d.wait(e.address, e.latency[m]+e.load, result)
		for _, r := range e.writes {
			d[r] = *result
		}
	}
	for _, r := range e.clears {
		for from := range d[r] {
			d[r][from] = never
		}
	}
}

// wait raises the delays of a result, so that the result comes at least the given number of cycles after all inputs.
func (d *delays) wait(inputs []reg, cycles int, result *[registers]int32) {
	for _, r := range inputs {
		for from, n := range d[r] {
			if n != never {
				result[from] = max(result[from], n+int32(cycles))
			}
		}
	}
}

// round returns the delays over a round of a loop: from the registers at the loop's head to those at the head one round
// later. They hold for each way through the subset.
func (c *Code) round(s *subset, head int, m model) *delays {
	var all *delays
	for _, path := range c.paths(s) {
		d := c.flow(path, head, m)
		if all == nil {
			all = d
		} else {
			all.meet(d)
		}
	}
	return all
}

// flow returns the same as round, but joins the ways through the subset where they meet.
func (c *Code) flow(s *subset, head int, m model) *delays {
	at := map[int]*delays{}  // the delays at the end of each block
	waiting := map[int]int{} // for each block, the number of blocks that still need its delays
	for _, b := range s.order {
		for _, p := range s.before[b] {
			waiting[p]++
		}
	}
	enter := func(b int) *delays {
		var d *delays
		for _, p := range s.before[b] {
			waiting[p]--
			from := at[p]
			if waiting[p] == 0 {
				delete(at, p)
			}
			switch {
			case d != nil:
				d.meet(from)
			case waiting[p] == 0:
				d = from
			default:
				copied := *from
				d = &copied
			}
		}
		return d
	}
	var result [registers]int32
	for _, b := range s.order {
		d := new(delays)
		if b == head {
			d.start()
		} else {
			d = enter(b)
		}
		for i := c.blocks[b].From; i < c.blocks[b].To; i++ {
			d.step(c.effect(i), m, &result)
		}
		at[b] = d
	}
	return enter(head)
}

// A trace is a chain of instructions, as a linked list that begins with the last one.
type trace struct {
	line int
	prev *trace
}

// The type delayed is a register's value while a single chain is traced.
type delayed struct {
	cycles int32
	by     *trace
}

// chainBetween returns the lines of the longest chain of instructions from one register to another, in a round of the
// loop. If there are several ways through the subset, it takes the way whose longest chain has the fewest cycles,
// because the bound must hold for all ways.
func (c *Code) chainBetween(s *subset, head int, m model, from, to reg) []int {
	var best delayed
	for i, path := range c.paths(s) {
		if d := c.trace(path, head, m, from, to); i == 0 || d.cycles < best.cycles {
			best = d
		}
	}
	var lines []int
	for t := best.by; t != nil; t = t.prev {
		lines = append(lines, t.line)
	}
	return lines
}

// trace returns the longest chain from one register to another, and joins the ways through the subset where they meet.
func (c *Code) trace(s *subset, head int, m model, from, to reg) delayed {
	at := map[int]*[registers]delayed{}
	enter := func(b int) [registers]delayed {
		var d [registers]delayed
		for i, p := range s.before[b] {
			for r := range d {
				if o := at[p][r]; i == 0 || o.cycles < d[r].cycles {
					d[r] = o
				}
			}
		}
		return d
	}
	for _, b := range s.order {
		var d [registers]delayed
		if b == head {
			for r := range d {
				d[r].cycles = never
			}
			d[from].cycles = 0
		} else {
			d = enter(b)
		}
		for i := c.blocks[b].From; i < c.blocks[b].To; i++ {
			traceStep(&d, c.effect(i), m, i)
		}
		at[b] = &d
	}
	return enter(head)[to]
}

// traceStep updates the registers for chainBetween when the instruction at a line is executed.
func traceStep(d *[registers]delayed, e *effect, m model, line int) {
	result := delayed{cycles: never}
	wait := func(inputs []reg, cycles int) {
		for _, r := range inputs {
			if n := d[r].cycles; n != never && n+int32(cycles) > result.cycles {
				result = delayed{n + int32(cycles), d[r].by}
			}
		}
	}
	wait(e.data, e.latency[m])
	wait(e.address, e.latency[m]+e.load)
	if result.cycles != never {
		result.by = &trace{line, result.by}
	}
	for _, r := range e.writes {
		d[r] = result
	}
	for _, r := range e.clears {
		d[r] = delayed{cycles: never}
	}
	if e.unknown {
		for r := range d {
			d[r] = delayed{cycles: never}
		}
	}
}
