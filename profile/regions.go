package profile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// maxAnnotated is how many lines of annotated code a profile has, but for those of its last
// region.
const maxAnnotated = 1 << 19

// regions cuts all code into regions, at gaps of more than the merge margin between two
// sampled PCs. It orders the regions by heat, and annotates the hot ones.
func (w *work) regions(p *Profile, merged []*mergedCode) []Region {
	var cuts []regionCut
	for _, from := range merged {
		if w.skipped(from.Kind) {
			continue
		}
		pcs := from.sampledPCs()
		for len(pcs) > 0 {
			n := 1
			for n < len(pcs) && (w.opts.MergeMethods || pcs[n]-pcs[n-1] <= uint64(w.opts.MergeMargin)) {
				n++
			}
			cuts = append(cuts, regionCut{w.region(from, pcs[:n]), from})
			pcs = pcs[n:]
		}
	}
	slices.SortStableFunc(cuts, func(a, b regionCut) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Lo, b.Lo))
	})
	w.chooseHot(p, cuts)
	regions := make([]Region, len(cuts))
	annotated, left := 0, 0
	for i, c := range cuts {
		regions[i] = c.Region
		r := &regions[i]
		if r.Hot && annotated >= maxAnnotated {
			r.Hot = false
			left++
		}
		if r.Hot {
			w.annotate(r, c.from)
			annotated += len(r.Lines)
		}
	}
	if left > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("the code of %d hot regions is left out, because that of the hottest ones has more than %d lines: "+
			"a higher --hot-threshold or a smaller --print-margin takes fewer", left, maxAnnotated))
	}
	return regions
}

// region sums up one run of sampled PCs. Its end is the end of the last PC's
// instruction, or the byte after the last PC where the log has no code.
func (w *work) region(p *mergedCode, pcs []uint64) Region {
	r := Region{Source: p.Source(), Method: p.Name, CompileID: p.ID, OSR: p.OSR,
		Lo: pcs[0], Hi: pcs[len(pcs)-1] + 1, Counts: make(Counts, w.n)}
	for _, pc := range pcs {
		r.Counts.Add(p.mergedAtPC[pc])
		r.PIDs = append(r.PIDs, p.pidsAtPC[pc]...)
	}
	r.PIDs = distinct(r.PIDs)
	if info := w.debugInfo[p.blobRef]; info != nil {
		if hi, ok := info.End(r.Hi - 1); ok {
			r.Hi = hi
		}
	} else if insts := w.listing(p.blobRef); find(insts, r.Hi-1) >= 0 {
		r.Hi = insts[find(insts, r.Hi-1)].Hi
	}
	return r
}

// annotate gives a region its lines: its instructions with their counts, and the print
// margin around them. It also moves the region's ends to the start of its first and the
// end of its last instruction.
func (w *work) annotate(r *Region, p *mergedCode) {
	insts := w.listing(p.blobRef)
	first, last := find(insts, r.Lo), find(insts, r.Hi-1)
	if first < 0 || last < 0 {
		if len(insts) > 0 {
			w.warnings = append(w.warnings, fmt.Sprintf("samples at 0x%x to 0x%x of %s are outside the code that the log has for it",
				r.Lo, r.Hi, r.Method))
		}
		return
	}
	r.Lo, r.Hi = insts[first].Lo, insts[last].Hi
	if n := last - first + 1; n > w.opts.TooBigThreshold {
		r.TooBig = n
		w.cut(r, p, insts[first:last+1])
		return
	}
	first = max(0, first-w.opts.PrintMargin)
	last = min(len(insts)-1, last+w.opts.PrintMargin)
	r.Lines = make([]Line, 0, last-first+1)
	for _, in := range insts[first : last+1] {
		r.Lines = append(r.Lines, w.line(p, in))
	}
	for pc, c := range p.mergedAtPC {
		if i := find(insts, pc); i >= first && i <= last {
			r.Lines[i-first].Counts.Add(c)
		}
	}
}

// line makes a line without samples of an instruction.
func (w *work) line(p *mergedCode, in printassembly.Instruction) Line {
	l := Line{Instruction: in, Counts: make(Counts, w.n)}
	if l.Direct() && (in.Target < p.Lo || in.Target >= p.Hi) {
		j := w.b.jvms[p.jvm]
		if i, ok := j.code.Find(in.Target, p.UptimeMillis); ok {
			l.TargetName = j.Log.Blobs[i].Name
		}
	}
	return l
}
