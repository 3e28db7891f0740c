package loops

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/code"
)

// A Bound says how many cycles a round of a loop takes at least. The package comment lists the assumptions.
type Bound struct {
	// Chain is the longest chain that is carried from round to round, and Cycles is the time that it takes in each
	// round. Newest is that time on the newest processors, which are faster at some instructions; see the constant
	// newest.
	Chain          []Link
	Cycles, Newest float64
	Ports          float64 // minimum number of cycles for which a round occupies the execution units, or the front end
	Busiest        string  // the instructions that occupy a unit for that time: "16 loads"
	Instructions   int     // number of instructions on the path that has most samples
	// Usual is true if parts of the loop were left out, because they have calls or hardly any samples. So the bound
	// does not hold for rounds that go through these parts.
	Usual bool
}

// A Link is an instruction of a chain.
type Link struct {
	Addr uint64
	Line int    // index of the instruction's line in the code
	Name string // mnemonic, or "load" if it loads the next address or value of the chain; "" if it takes no cycles
}

// Limited reports whether the chain is what limits the loop, and not the execution units.
func (b *Bound) Limited() bool { return b.Cycles > 1 && b.Cycles >= b.Ports }

const (
	// maxBoundBlocks limits the blocks of a loop with a bound, because each block needs about 13 kB of memory while the
	// bound is computed.
	maxBoundBlocks = 2048
	// maxBoundLines limits the number of instructions of a loop with a bound, so that computing it takes no more than
	// some tenths of a second. Code.unrolling does not examine larger loops either.
	maxBoundLines = 50_000
	// maxBody limits the instructions that Assembly writes.
	maxBody = 2000
)

// bound sets the bound of an innermost loop, or says why it has none.
func (c *Code) bound(f *Facts, l *code.Loop) {
	if len(l.Blocks) > maxBoundBlocks || l.Lines > maxBoundLines {
		f.Unbounded = "it is too large"
		return
	}
	calling := c.calling(l)
	every := c.subset(l, func(b int) bool { return calling[b] })
	if every == nil {
		f.Unbounded = "its jumps are too complex"
		return
	}
	sampled := c.subset(l, func(b int) bool { return calling[b] || c.cold(l, b) })
	path := c.hottest(l, sampled)
	f.body = c.assembly(path)
	if calling[l.Head] {
		f.Unbounded = "it calls other code"
		return
	}
	s, partial := every, every.left
	cycle, cycles := c.carried(every, l.Head, usual)
	if len(sampled.order) < len(every.order) {
		other, more := c.carried(sampled, l.Head, usual)
		if longer(other, more, cycle, cycles) || c.unknownIn(every) >= 0 {
			s, cycle, cycles, partial = sampled, other, more, true
		}
	}
	if i := c.unknownIn(s); i >= 0 {
		in := c.inst(i)
		f.Unbounded = "gasm does not know how long " + strings.TrimSpace(in.prefix+" "+in.mnemonic) + " takes"
		return
	}
	b := &Bound{Usual: partial, Instructions: len(path), Cycles: mean(cycle, cycles)}
	b.Newest = mean(c.carried(s, l.Head, newest))
	for i, to := range cycle {
		from := cycle[(i+len(cycle)-1)%len(cycle)]
		for _, line := range c.chainBetween(s, l.Head, usual, from, to) {
			b.Chain = append(b.Chain, Link{c.lines[line].Lo, line, c.linkName(line)})
		}
	}
	slices.SortStableFunc(b.Chain, func(x, y Link) int { return x.Line - y.Line })
	b.Chain = slices.CompactFunc(b.Chain, func(x, y Link) bool { return x.Line == y.Line })
	b.Ports, b.Busiest = c.ports(s)
	f.Bound = b
}

// carried returns the cycle of registers (see graph) that limits a loop, and the number of clock cycles that it takes.
func (c *Code) carried(s *subset, head int, m model) ([]reg, int) {
	return worst(c.round(s, head, m))
}

// mean returns the number of clock cycles per round that a cycle of registers takes.
func mean(cycle []reg, cycles int) float64 {
	if len(cycle) == 0 {
		return 0
	}
	return float64(cycles) / float64(len(cycle))
}

// longer reports whether a cycle of registers takes more clock cycles per round than another one does.
func longer(a []reg, aCycles int, b []reg, bCycles int) bool {
	return mean(a, aCycles) > mean(b, bCycles)
}

// unknownIn returns the first line of a subset whose instruction is not in the table operations, or -1.
func (c *Code) unknownIn(s *subset) int {
	for _, b := range s.order {
		for i := c.blocks[b].From; i < c.blocks[b].To; i++ {
			if k := c.lines[i].Kind; k != disasm.Jump && k != disasm.CondJump && c.effect(i).unknown {
				return i
			}
		}
	}
	return -1
}

// linkName returns the name of an instruction in the description of a chain.
func (c *Code) linkName(line int) string {
	e := c.effect(line)
	switch {
	case e.reads && e.latency[usual] == 0:
		return "load"
	case e.latency[usual] == 0:
		return ""
	}
	return c.inst(line).mnemonic
}
