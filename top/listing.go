package top

import (
	"cmp"

	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Listing is the code of a method with the samples of each instruction.
type Listing struct {
	Code    *Code
	Lines   []code.Line // Counts are samples
	Amount              // the samples of the whole method
	Hottest int         // index of the line with the most samples
	Loop    *Loop       // the hottest loop; nil if there is none
}

// A Loop is a loop of a Listing.
type Loop struct {
	Head   uint64 // address
	Lines  int    // number of instructions
	Amount float64
}

// Listing returns the code with the samples of a scope. It returns nil if the instructions are not known.
func (p *Picture) Listing(s Scope, c *Code) *Listing {
	lines := p.m.listed.of(p.m, c)
	if lines == nil {
		return nil
	}
	l := &Listing{Code: c, Lines: append([]code.Line(nil), lines...)}
	for i := range l.Lines {
		l.Lines[i].Counts = make(tally.Counts, 1)
	}
	insts := p.m.listed.insts
	for i := range p.entries {
		e := &p.entries[i]
		if e.code != c || !p.in(e, s) {
			continue
		}
		l.add(e)
		if at := jvmcode.Index(insts, e.pc); at >= 0 {
			l.Lines[at].Counts[0] += int64(e.count + 0.5)
		}
	}
	for i := range l.Lines {
		if l.Lines[i].Counts[0] > l.Lines[l.Hottest].Counts[0] {
			l.Hottest = i
		}
	}
	l.findLoop()
	return l
}

// findLoop finds the innermost loop with the most samples.
func (l *Listing) findLoop() {
	blocks := code.BlocksOf(l.Lines, 1)
	loops, whole := code.FindLoops(l.Lines, blocks, 1)
	if !whole {
		return
	}
	inner := make([]bool, len(loops))
	for i := range inner {
		inner[i] = true
	}
	for i := range loops {
		if loops[i].Parent >= 0 {
			inner[loops[i].Parent] = false
		}
	}
	for i := range loops {
		if inner[i] && len(loops[i].Counts) > 0 && loops[i].Counts[0] > 0 &&
			(l.Loop == nil || float64(loops[i].Counts[0]) > l.Loop.Amount) {
			l.Loop = &Loop{Head: l.Lines[blocks[loops[i].Head].From].Lo, Lines: loops[i].Lines,
				Amount: float64(loops[i].Counts[0])}
		}
	}
}

// Address returns the index of the line at an address, or -1.
func (l *Listing) Address(pc uint64) int {
	for i := range l.Lines {
		if l.Lines[i].Lo <= pc && pc < l.Lines[i].Hi {
			return i
		}
	}
	return -1
}

// Known reports whether the instructions of a method's code are known.
func (p *Picture) Known(c *Code) bool {
	reader, _ := p.m.decode(c)
	return reader != nil
}

// Awaited reports whether the code of the hottest Java method is not known yet. It returns false if no Java method has
// samples.
func (p *Picture) Awaited() bool {
	for _, row := range p.Methods(Scope{}) {
		if row.Code != nil && row.Code.Kind.Java() {
			return !p.Known(row.Code)
		}
	}
	return false
}

// CodeOf returns the hottest version of the code of a method in a scope, or nil.
func (p *Picture) CodeOf(s Scope, name string) *Code {
	counts := map[*Code]float64{}
	var best *Code
	for i := range p.entries {
		e := &p.entries[i]
		if e.code == nil || e.code.Name != name || !p.in(e, s) {
			continue
		}
		counts[e.code] += e.count
		if best == nil || cmp.Compare(counts[e.code], counts[best]) > 0 {
			best = e.code
		}
	}
	return best
}
