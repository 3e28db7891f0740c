package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/loops"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// Limits on the number of instructions in [Profile.Hottest] and of loops in [Profile.HotLoops]. A piece of code is
// searched for loops if it has some of the hottest instructions, or at least the share loopCode of the samples.
const (
	hottestLines = 30
	hottestLoops = 30
	loopCode     = 0.01
)

// A HotLine is one of the instructions with the most samples in the whole profile.
type HotLine struct {
	code.Line
	Source, Method string // as in [Region]
	CompileID      int
	// Loop is the number of the innermost loop around the instruction. Depth is the number of loops around the
	// instruction. Both are 0 if the instruction is in no loop. Loop is -1 if the code is too large to look for its
	// loops.
	Loop, Depth int
	Parts       parts.Counts // nil if the profile has no parts
}

// A HotLoop is a loop with samples, in code that has some of the hottest instructions or 1 % of the samples.
type HotLoop struct {
	Source, Method string // as in [Region]
	CompileID      int
	// Number is the loop's number in the method's code. The loops are numbered from 1, in the order of their addresses.
	// Parent is the Number of the loop around this one, or 0 if there is no such loop.
	Number, Parent, Depth int
	Head                  uint64 // address at which the loop begins
	Lines                 int
	Counts                tally.Counts
	Facts                 *loops.Facts
}

// A hotCode is a piece of code that has some of the hottest instructions, or at least the share loopCode of the
// samples.
type hotCode struct {
	from   *mergedCode
	lines  []code.Line
	blocks []code.Block
	loops  []code.Loop
	whole  bool // the loops of the whole code were found
	parts  *ListingParts
	taken  map[int]bool // indexes of the lines that are in Profile.Hottest
}

// findHottest finds the instructions with the most samples, and the loops around them. It reads only code that has such
// instructions, or at least the share loopCode of the samples, whether that code is in [Profile.Listings] or not.
func (l *listingMaker) findHottest(merged []*mergedCode) {
	if !l.opts.Hottest {
		return
	}
	type hit struct {
		code   *mergedCode
		pc     uint64
		counts tally.Counts
	}
	var hits []hit
	for _, from := range merged {
		for pc, c := range from.mergedAtPC {
			if !l.opts.Skips(from.Kind) {
				hits = append(hits, hit{from, pc, c})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(tally.Compare(a.counts, b.counts), strings.Compare(a.code.Name, b.code.Name), cmp.Compare(a.pc, b.pc))
	})
	p := l.p
	codes := map[*mergedCode]*hotCode{}
	var order []*hotCode
	for _, h := range hits {
		few := slices.Max(h.counts) < int64(l.opts.MinSamples)
		if len(p.Hottest) == hottestLines || few && len(p.Hottest) > 0 {
			break
		}
		at := jvmcode.Index(l.code.Listing(h.code.Ref), h.pc)
		if at < 0 {
			continue
		}
		c := codes[h.code]
		if c == nil {
			c = l.hotCode(h.code)
			codes[h.code] = c
			order = append(order, c)
		}
		if !c.taken[at] {
			c.taken[at] = true
			p.Hottest = append(p.Hottest, c.line(at))
		}
	}
	slices.SortStableFunc(p.Hottest, func(a, b HotLine) int { return tally.Compare(a.Counts, b.Counts) })
	for _, from := range merged { // a piece of code may have none of the hottest instructions
		total := make(tally.Counts, l.counters)
		for _, n := range from.mergedAtPC {
			total.Add(n)
		}
		if codes[from] == nil && !l.opts.Skips(from.Kind) && p.Share(total) >= loopCode &&
			slices.Max(total) >= int64(l.opts.MinSamples) {
			order = append(order, l.hotCode(from))
		}
	}
	p.HotLoops = loopsOf(order)
}

// hotCode finds the blocks and loops of some code.
func (l *listingMaker) hotCode(from *mergedCode) *hotCode {
	insts := l.code.Listing(from.Ref)
	c := &hotCode{from: from, taken: map[int]bool{}, parts: l.parted.listing(from, insts)}
	c.lines, _ = from.lines(insts, l.code, l.counters)
	c.blocks = code.BlocksOf(c.lines, l.counters)
	c.loops, c.whole = code.FindLoops(c.lines, c.blocks, l.counters)
	return c
}

// line converts the line c.lines[at] to a HotLine: it adds the loop around the instruction and, for each time slice and
// thread group of the profile, the instruction's samples.
func (c *hotCode) line(at int) HotLine {
	h := HotLine{Line: c.lines[at], Source: c.from.Source(), Method: c.from.Name, CompileID: c.from.ID}
	if loop := c.blocks[code.BlockAt(c.blocks, at)].Loop; !c.whole {
		h.Loop = -1
	} else if loop >= 0 {
		h.Loop, h.Depth = loop+1, c.loops[loop].Depth
	}
	if c.parts != nil {
		h.Parts = c.parts.Lines[at]
	}
	return h
}

// loopsOf returns the loops with the most samples in some code. Only these are described.
func loopsOf(codes []*hotCode) []HotLoop {
	type found struct {
		in *hotCode
		*code.Loop
		index int
	}
	var all []found
	for _, c := range codes {
		for i := range c.loops {
			if l := &c.loops[i]; slices.Max(l.Counts) > 0 {
				all = append(all, found{c, l, i})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return tally.Compare(a.Counts, b.Counts) })
	var hottest []HotLoop
	described := map[*hotCode]*loops.Code{}
	for _, l := range all[:min(len(all), hottestLoops)] {
		c := l.in
		if described[c] == nil {
			described[c] = loops.New(c.lines, c.blocks, c.loops)
		}
		hottest = append(hottest, HotLoop{Source: c.from.Source(), Method: c.from.Name, CompileID: c.from.ID,
			Number: l.index + 1, Parent: l.Parent + 1, Depth: l.Depth,
			Head: c.lines[c.blocks[l.Head].From].Lo, Lines: l.Lines, Counts: l.Counts, Facts: described[c].Describe(l.index)})
	}
	return hottest
}
