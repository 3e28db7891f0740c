package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Gap stands for instructions of a region that the region's Lines leave out.
type Gap struct {
	Before       int // index in Lines of the line after the gap; len(Lines) for a gap at the end
	Instructions int
	Counts       tally.Counts
}

const (
	// excerptLines is the approximate number of lines that are shown of a region that is too big: a few screens.
	excerptLines = 150
	// excerptMargin is the number of instructions that are shown before and after a hot one.
	excerptMargin = 4
	// leastGap is the smallest number of instructions in a gap. If there are fewer, the instructions are shown, because
	// a line about the gap would save almost nothing.
	leastGap = 3
)

// excerpt sets the lines of a region that is too big: those around the hottest instructions, and the gaps between them.
func (r *regionCutter) excerpt(region *Region, from *mergedCode, insts []printassembly.Instruction) {
	keep := r.excerptOf(from, insts)
	counts := make([]tally.Counts, len(insts))
	for pc, c := range from.mergedAtPC {
		if i := jvmcode.Index(insts, pc); i >= 0 {
			if counts[i] == nil {
				counts[i] = make(tally.Counts, r.counters)
			}
			counts[i].Add(c)
		}
	}
	for i, in := range insts {
		if keep[i] {
			l := from.line(in, r.code, r.counters)
			l.Counts.Add(counts[i])
			region.Lines = append(region.Lines, l)
			continue
		}
		if i == 0 || keep[i-1] {
			region.Gaps = append(region.Gaps, Gap{Before: len(region.Lines), Counts: make(tally.Counts, r.counters)})
		}
		gap := &region.Gaps[len(region.Gaps)-1]
		gap.Instructions++
		gap.Counts.Add(counts[i])
	}
}

// excerptOf chooses the instructions that an excerpt shows. It takes the hottest instruction with those around it, then
// the next hottest one, and so on until there are excerptLines of them.
func (r *regionCutter) excerptOf(from *mergedCode, insts []printassembly.Instruction) (keep []bool) {
	type hit struct {
		at     int
		counts tally.Counts
	}
	var hits []hit
	for pc, c := range from.mergedAtPC {
		if i := jvmcode.Index(insts, pc); i >= 0 {
			hits = append(hits, hit{i, c})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(tally.Compare(a.counts, b.counts), cmp.Compare(a.at, b.at)) })
	keep = make([]bool, len(insts))
	margin, kept := min(excerptMargin, r.opts.PrintMargin), 0
	for _, h := range hits {
		if kept >= min(excerptLines, r.opts.TooBigThreshold) {
			break
		}
		for i := max(0, h.at-margin); i < min(len(insts), h.at+margin+1); i++ {
			if !keep[i] {
				keep[i] = true
				kept++
			}
		}
	}
	fillShortGaps(keep)
	return keep
}

// fillShortGaps removes the gaps that are shorter than leastGap, by marking their instructions as kept.
func fillShortGaps(keep []bool) {
	for i := 0; i < len(keep); {
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
}
