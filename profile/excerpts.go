package profile

import (
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Gap marks instructions of a region that the region's Lines leave out.
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
)

// excerpt sets the lines of a region that is too big: those around the hottest instructions, and the gaps between them.
func (r *regionCutter) excerpt(region *Region, from *mergedCode, insts []printassembly.Instruction) {
	var hits []code.Hit
	counts := make([]tally.Counts, len(insts))
	for pc, c := range from.mergedAtPC {
		if i := jvmcode.Index(insts, pc); i >= 0 {
			if counts[i] == nil {
				counts[i] = make(tally.Counts, r.counters)
			}
			counts[i].Add(c)
			hits = append(hits, code.Hit{At: i, Counts: c})
		}
	}
	keep := code.Excerpt(len(insts), hits, min(excerptLines, r.opts.TooBigThreshold),
		min(excerptMargin, r.opts.PrintMargin))
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
