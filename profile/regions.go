package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// maxAnnotated limits the lines of annotated code in a profile. The region that reaches the limit is still annotated
// completely.
const maxAnnotated = 1 << 19

// A regionCutter cuts the code of a profile into regions and annotates the hot ones.
type regionCutter struct {
	p        *Profile
	opts     *choice.Options
	code     *jvmcode.Reader
	counters int
	warnf    func(format string, args ...any) // adds a warning to the profile
	hottest  []hotCut                         // the hottest regions of Java code, for the comparison of hosts
}

// A regionCut is a region with the code that it was cut from.
type regionCut struct {
	Region
	from *mergedCode
}

// cut cuts all code into regions. A region ends where the next sampled PC of the code is further away than the merge
// margin. The regions are returned hottest first, and the hot ones are annotated.
func (r *regionCutter) cut(merged []*mergedCode) []Region {
	var cuts []regionCut
	for _, from := range merged {
		if r.opts.Skips(from.Kind) {
			continue
		}
		pcs := from.sampledPCs()
		for len(pcs) > 0 {
			n := 1
			for n < len(pcs) && (r.opts.MergeMethods || pcs[n]-pcs[n-1] <= uint64(r.opts.MergeMargin)) {
				n++
			}
			cuts = append(cuts, regionCut{r.region(from, pcs[:n]), from})
			pcs = pcs[n:]
		}
	}
	slices.SortStableFunc(cuts, func(a, b regionCut) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Lo, b.Lo))
	})
	r.keepHottest(cuts)
	r.chooseHot(cuts)
	return r.annotateHot(cuts)
}

// region sums up one run of sampled PCs. Its end is the end of the last PC's instruction, or the byte after the last PC
// if the log has no code.
func (r *regionCutter) region(from *mergedCode, pcs []uint64) Region {
	region := Region{Source: from.Source(), Method: from.Name, CompileID: from.ID, OSR: from.OSR,
		Native: from.Kind == printassembly.Library,
		Lo:     pcs[0], Hi: pcs[len(pcs)-1] + 1, Counts: make(tally.Counts, r.counters),
		SafepointsOnly: r.code.SafepointsOnly(from.Ref), Moved: from.moved}
	for _, pc := range pcs {
		region.Counts.Add(from.mergedAtPC[pc])
		region.PIDs = append(region.PIDs, from.pidsAtPC[pc]...)
	}
	region.PIDs = distinct(region.PIDs)
	if hi, ok := r.code.InstructionEnd(from.Ref, region.Hi-1); ok {
		region.Hi = hi
	}
	return region
}

// annotateHot annotates the hot regions, up to maxAnnotated lines. It returns all regions.
func (r *regionCutter) annotateHot(cuts []regionCut) []Region {
	regions := make([]Region, len(cuts))
	annotated, left := 0, 0
	for i, c := range cuts {
		region := &regions[i]
		*region = c.Region
		if region.Hot && annotated >= maxAnnotated {
			region.Hot = false
			left++
		}
		if region.Hot {
			r.annotate(region, c.from)
			annotated += len(region.Lines)
		}
	}
	if left > 0 {
		r.warnf("the code of %d hot regions is left out, because that of the hottest ones has more than %d lines: "+
			"use a higher --hot-threshold or a smaller --print-margin", left, maxAnnotated)
	}
	return regions
}

// annotate sets a region's lines: its instructions with their counts, and the print margin around them. It also moves
// the region's ends to the start of its first and the end of its last instruction.
func (r *regionCutter) annotate(region *Region, from *mergedCode) {
	insts := r.code.Listing(from.Ref)
	first, last := jvmcode.Index(insts, region.Lo), jvmcode.Index(insts, region.Hi-1)
	if first < 0 || last < 0 {
		if len(insts) > 0 {
			r.warnf("samples at 0x%x to 0x%x of %s are outside the code that the log has for it", region.Lo, region.Hi,
				region.Method)
		}
		return
	}
	region.Lo, region.Hi = insts[first].Lo, insts[last].Hi
	region.Profiled = r.code.Profiled(from.Ref)
	if n := last - first + 1; n > r.opts.TooBigThreshold {
		region.TooBig = n
		r.excerpt(region, from, insts[first:last+1])
		return
	}
	first = max(0, first-r.opts.PrintMargin)
	last = min(len(insts)-1, last+r.opts.PrintMargin)
	region.Lines = make([]code.Line, 0, last-first+1)
	for _, in := range insts[first : last+1] {
		region.Lines = append(region.Lines, from.line(in, r.code, r.counters))
	}
	for pc, c := range from.mergedAtPC {
		if i := jvmcode.Index(insts, pc); i >= first && i <= last {
			region.Lines[i-first].Counts.Add(c)
		}
	}
}
