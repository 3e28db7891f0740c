package loops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
)

// How much work of each kind a processor does at most in one cycle. Each number is that of the widest processor in both
// models.
const (
	perCycle        = 8 // instructions; a comparison and the jump after it count as one
	loadsPerCycle   = 4
	wideLoads       = 3 // loads into vector registers
	storesPerCycle  = 2
	vectorsPerCycle = 4 // operations on vector registers
	floatsPerCycle  = 2 // floating-point additions; the same number of multiplications is possible in addition
	mulsPerCycle    = 3 // integer multiplications
)

// A use counts the execution units that a path through a loop needs.
type use struct {
	instructions, loads, wide, stores, vectors, adds, multiplies, muls, divisions, busy int
}

// ports returns the minimum number of cycles for which a round occupies the units of a processor, and the instructions
// that occupy them for that long. If there are several ways through the subset, it takes for each kind of unit the way
// that needs it least.
func (c *Code) ports(s *subset) (float64, string) {
	n := c.least(s)
	best, what := float64(n.instructions)/perCycle, plural(n.instructions, "instruction")
	for _, u := range []struct {
		count int
		per   float64
		name  string
	}{{n.loads, loadsPerCycle, "load"}, {n.wide, wideLoads, "vector load"}, {n.stores, storesPerCycle,
		"store"}, {n.vectors, vectorsPerCycle, "vector operation"},
		{n.adds, floatsPerCycle, "floating-point addition"}, {n.multiplies, floatsPerCycle, "floating-point multiplication"},
		{n.muls, mulsPerCycle, "multiplication"}} {
		if cycles := float64(u.count) / u.per; cycles > best {
			best, what = cycles, plural(u.count, u.name)
		}
	}
	if cycles := float64(n.busy); cycles > best {
		best, what = cycles, plural(n.divisions, "division or root")
		if n.divisions > 1 {
			what = fmt.Sprintf("%d divisions or roots", n.divisions)
		}
	}
	return best, what
}

// least returns, for each kind of unit, the smallest need of a round through a subset.
func (c *Code) least(s *subset) use {
	at := map[int]use{}
	enter := func(b int) use {
		var n use
		for i, p := range s.before[b] {
			if o := at[p]; i == 0 {
				n = o
			} else {
				n = n.least(o)
			}
		}
		return n
	}
	for i, b := range s.order {
		var n use
		if i > 0 {
			n = enter(b)
		}
		for line := c.blocks[b].From; line < c.blocks[b].To; line++ {
			n.add(c, line)
		}
		at[b] = n
	}
	return enter(s.order[0])
}

// least returns the smaller one of each count.
func (n use) least(o use) use {
	return use{min(n.instructions, o.instructions), min(n.loads, o.loads), min(n.wide, o.wide), min(n.stores, o.stores),
		min(n.vectors, o.vectors),
		min(n.adds, o.adds), min(n.multiplies, o.multiplies), min(n.muls, o.muls), min(n.divisions, o.divisions),
		min(n.busy, o.busy)}
}

// add adds what an instruction needs. Nops are left out, because some processors drop them early.
func (n *use) add(c *Code, line int) {
	e := c.effect(line)
	if e.free {
		return
	}
	fused := c.lines[line].Kind == disasm.CondJump && line > 0 && slices.Contains(c.effect(line-1).writes, flags)
	if !fused {
		n.instructions++
	}
	if e.reads {
		n.loads++
	}
	if e.wideRead {
		n.wide++
	}
	if e.stores {
		n.stores++
	}
	if c.inst(line).operation.vector() && !e.idiom && e.latency[usual] > 0 {
		n.vectors++
	}
	switch {
	case e.idiom:
	case e.unit == floatAdd:
		n.adds++
	case e.unit == floatMultiply:
		n.multiplies++
	case e.unit == intMultiply:
		n.muls++
	case e.unit == divider:
		n.divisions++
		n.busy += e.busy
	}
}

// plural returns a number with a noun: "1 load", "16 loads".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
