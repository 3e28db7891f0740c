package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// leastOfThreshold is the part of the hot threshold that a region must have at least when
// it is annotated although it is not hot: of the default 10 %, half a percent.
const leastOfThreshold = 20

// A regionCut is a region with the code that it was cut from.
type regionCut struct {
	Region
	from *mergedCode
}

// chooseHot marks the regions that are annotated: those above the hot threshold and, where
// these are fewer than Options.Regions, the hottest region of each of the hottest methods.
// The heat of many programs is spread, so that no region is hot. Those with too few samples
// are counted instead. The cuts are ordered by heat.
func (w *work) chooseHot(p *Profile, cuts []regionCut) {
	if w.opts.SkipLines || len(cuts) == 0 {
		return
	}
	type method struct {
		counts  Counts
		hottest int
		hot     bool
	}
	type key struct{ source, name string }
	of := map[key]*method{}
	var methods []*method
	shown := 0
	var few []int // cuts that are left out because they have too few samples
	for i := range cuts {
		c := &cuts[i]
		c.Hot = p.IsHot(c.Counts)
		k := key{c.Source, c.Method}
		m := of[k]
		if m == nil {
			m = &method{make(Counts, w.n), i, false}
			of[k] = m
			methods = append(methods, m)
		}
		m.counts.Add(c.Counts)
		m.hot = m.hot || c.Hot
		if c.Hot {
			shown++
		}
	}
	slices.SortStableFunc(methods, func(a, b *method) int { return compareCounts(a.counts, b.counts) })
	hasCode := func(c regionCut) bool { return c.from.HasCode }
	anyCode := slices.ContainsFunc(cuts, hasCode) // where HotSpot prints none, names are all there is
	for _, m := range methods {
		c := &cuts[m.hottest]
		// A codelet of the interpreter tells nobody what to do about it, and what no log has
		// tells nothing.
		telling := c.from.Kind != printassembly.Interpreter && c.from.Kind != printassembly.Unprinted && (hasCode(*c) || !anyCode)
		warm := p.Share(c.Counts) >= p.HotThreshold/leastOfThreshold && telling
		if shown+len(few) >= w.opts.Regions || m.hot || !warm {
			continue
		}
		if slices.Max(c.Counts) < int64(w.opts.MinSamples) {
			few = append(few, m.hottest)
			continue
		}
		c.Hot = true
		shown++
	}
	if shown == 0 { // a report is never without code
		first := w.fallback(cuts)
		cuts[first].Hot = true
		few = slices.DeleteFunc(few, func(i int) bool { return i == first })
	}
	p.TooFew = len(few)
}

// fallback is the region that is annotated where none is hot or warm: the hottest one, and if
// more than hot ones are wanted, the hottest one of a compiled method, with code if there is one.
func (w *work) fallback(cuts []regionCut) int {
	if w.opts.Regions <= 1 {
		return 0
	}
	compiled := func(c regionCut) bool { return c.from.Kind.Java() }
	withCode := func(c regionCut) bool { return compiled(c) && c.from.HasCode }
	if i := slices.IndexFunc(cuts, withCode); i >= 0 {
		return i
	}
	return max(slices.IndexFunc(cuts, compiled), 0)
}

// A Gap stands for instructions of a region that its Lines leave out.
type Gap struct {
	Before       int // the index in Lines of the line behind it; their number for a gap at the end
	Instructions int
	Counts       Counts
}

const (
	// cutLines is about how many lines of a region that is too big are shown: some screens.
	cutLines = 150
	// cutMargin is how many instructions are shown on either side of a hot one then.
	cutMargin = 4
	// leastGap is how many instructions a gap has. The line about it takes one line.
	leastGap = 3
)

// windows chooses the instructions of a region that is too big which are shown: those
// around the hottest ones, hottest first, until there are cutLines of them.
func (w *work) windows(p *mergedCode, insts []printassembly.Instruction) (keep []bool) {
	type hit struct {
		at     int
		counts Counts
	}
	var hits []hit
	for pc, c := range p.mergedAtPC {
		if i := find(insts, pc); i >= 0 {
			hits = append(hits, hit{i, c})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(compareCounts(a.counts, b.counts), cmp.Compare(a.at, b.at)) })
	keep = make([]bool, len(insts))
	margin, kept := min(cutMargin, w.opts.PrintMargin), 0
	for _, h := range hits {
		if kept >= min(cutLines, w.opts.TooBigThreshold) {
			break
		}
		for i := max(0, h.at-margin); i < min(len(insts), h.at+margin+1); i++ {
			if !keep[i] {
				keep[i] = true
				kept++
			}
		}
	}
	for i := 0; i < len(keep); { // fill gaps that are not worth their line
		n := 1
		for i+n < len(keep) && keep[i+n] == keep[i] {
			n++
		}
		if !keep[i] && n < leastGap {
			for k := i; k < i+n; k++ {
				keep[k] = true
			}
		}
		i += n
	}
	return keep
}

// cut gives a region that is too big the lines in its windows, and the gaps between them.
func (w *work) cut(r *Region, p *mergedCode, insts []printassembly.Instruction) {
	keep := w.windows(p, insts)
	counts := make([]Counts, len(insts))
	for pc, c := range p.mergedAtPC {
		if i := find(insts, pc); i >= 0 {
			if counts[i] == nil {
				counts[i] = make(Counts, w.n)
			}
			counts[i].Add(c)
		}
	}
	for i, in := range insts {
		if keep[i] {
			l := w.line(p, in)
			l.Counts.Add(counts[i])
			r.Lines = append(r.Lines, l)
			continue
		}
		if i == 0 || keep[i-1] {
			r.Gaps = append(r.Gaps, Gap{Before: len(r.Lines), Counts: make(Counts, w.n)})
		}
		gap := &r.Gaps[len(r.Gaps)-1]
		gap.Instructions++
		gap.Counts.Add(counts[i])
	}
}
