package profile

import (
	"cmp"
	"slices"
	"strings"
)

// How many instructions [Profile.Hottest] and how many loops [Profile.HotLoops] have at most.
const (
	hottestLines = 30
	hottestLoops = 30
)

// A HotLine is one of the instructions that have the most samples, in whatever code.
type HotLine struct {
	Line
	Source, Method string // as in [Region]
	CompileID      int
	// Loop is the number of the innermost loop around it, and Depth how many loops there are
	// around it, in the code of its method: 0 for none. Loop is -1 where the code is too large to
	// look for its loops.
	Loop, Depth int
	Parts       PartCounts // nil where the profile has no parts
}

// A HotLoop is a loop with samples, of code that has some of the hottest instructions.
type HotLoop struct {
	Source, Method        string // as in [Region]
	CompileID             int
	Number, Parent, Depth int    // loops are counted by the addresses of their heads, from 1 on; Parent is 0 for none
	Head                  uint64 // the address at which it begins
	Lines                 int
	Counts                Counts
}

// A hotCode is code with some of the hottest instructions.
type hotCode struct {
	from   *mergedCode
	lines  []Line
	blocks []Block
	loops  []Loop
	whole  bool
	parts  *ListingParts
	taken  map[int]bool
}

// hottest finds the instructions with the most samples. It reads the code of those alone, whether
// it is listed or not.
func (w *work) hottest(p *Profile, merged []*mergedCode) {
	if !w.opts.Hottest {
		return
	}
	type hit struct {
		code   *mergedCode
		pc     uint64
		counts Counts
	}
	var hits []hit
	for _, m := range merged {
		for pc, c := range m.mergedAtPC {
			if !w.skipped(m.Kind) {
				hits = append(hits, hit{m, pc, c})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(compareCounts(a.counts, b.counts), strings.Compare(a.code.Name, b.code.Name), cmp.Compare(a.pc, b.pc))
	})
	codes := map[*mergedCode]*hotCode{}
	var order []*hotCode
	for _, h := range hits {
		if len(p.Hottest) == hottestLines {
			break
		}
		at := find(w.listing(h.code.blobRef), h.pc)
		if at < 0 {
			continue
		}
		c := codes[h.code]
		if c == nil {
			c = w.hotCode(h.code)
			codes[h.code] = c
			order = append(order, c)
		}
		if !c.taken[at] {
			c.taken[at] = true
			p.Hottest = append(p.Hottest, c.line(at))
		}
	}
	slices.SortStableFunc(p.Hottest, func(a, b HotLine) int { return compareCounts(a.Counts, b.Counts) })
	for _, c := range order {
		p.HotLoops = append(p.HotLoops, c.hotLoops()...)
	}
	slices.SortStableFunc(p.HotLoops, func(a, b HotLoop) int { return compareCounts(a.Counts, b.Counts) })
	p.HotLoops = p.HotLoops[:min(len(p.HotLoops), hottestLoops)]
}

func (w *work) hotCode(m *mergedCode) *hotCode {
	insts := w.listing(m.blobRef)
	c := &hotCode{from: m, taken: map[int]bool{}, parts: w.listingParts(m, insts)}
	c.lines, _ = w.countedLines(m, insts)
	c.blocks = BlocksOf(c.lines, w.n)
	c.loops, c.whole = FindLoops(c.lines, c.blocks, w.n)
	return c
}

func (c *hotCode) line(at int) HotLine {
	h := HotLine{Line: c.lines[at], Source: c.from.Source(), Method: c.from.Name, CompileID: c.from.ID}
	if loop := c.blocks[BlockAt(c.blocks, at)].Loop; !c.whole {
		h.Loop = -1
	} else if loop >= 0 {
		h.Loop, h.Depth = loop+1, c.loops[loop].Depth
	}
	if c.parts != nil {
		h.Parts = c.parts.Lines[at]
	}
	return h
}

func (c *hotCode) hotLoops() []HotLoop {
	var all []HotLoop
	for i, l := range c.loops {
		if slices.ContainsFunc(l.Counts, func(n int64) bool { return n > 0 }) {
			all = append(all, HotLoop{Source: c.from.Source(), Method: c.from.Name, CompileID: c.from.ID,
				Number: i + 1, Parent: l.Parent + 1, Depth: l.Depth, Head: c.lines[c.blocks[l.Head].From].Lo, Lines: l.Lines, Counts: l.Counts})
		}
	}
	return all
}
