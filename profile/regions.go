package profile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// regions cuts each piece at gaps of more than the merge margin, orders the
// regions by heat and annotates the hot ones.
func (w *work) regions(pieces []*piece) []Region {
	type cut struct {
		Region
		from *piece
	}
	var cuts []cut
	for _, p := range pieces {
		if w.skipped(p.Kind) {
			continue
		}
		pcs := p.sampledPCs()
		for len(pcs) > 0 {
			n := 1
			for n < len(pcs) && (w.opts.MergeMethods || pcs[n]-pcs[n-1] <= uint64(w.opts.MergeMargin)) {
				n++
			}
			cuts = append(cuts, cut{w.region(p, pcs[:n]), p})
			pcs = pcs[n:]
		}
	}
	slices.SortStableFunc(cuts, func(a, b cut) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Lo, b.Lo))
	})
	regions := make([]Region, len(cuts))
	for i, c := range cuts {
		regions[i] = c.Region
		r := &regions[i]
		// The report is never empty: without any hot region it has the hottest.
		if r.Hot = !w.opts.SkipLines && (w.share(r.Counts) >= w.opts.HotThreshold || i == 0); r.Hot {
			w.annotate(r, c.from)
		}
	}
	return regions
}

// region sums up one run of sampled PCs. Without code its end is the byte after
// the last PC's first.
func (w *work) region(p *piece, pcs []uint64) Region {
	r := Region{Source: p.Source(), Method: p.Name, CompileID: p.ID, OSR: p.OSR,
		Lo: pcs[0], Hi: pcs[len(pcs)-1] + 1, Counts: make(Counts, w.n)}
	for _, pc := range pcs {
		r.Counts.Add(p.at[pc])
		r.PIDs = append(r.PIDs, p.pidsAt[pc]...)
	}
	r.PIDs = distinct(r.PIDs)
	if i := find(w.listing(p.blobRef), r.Hi-1); i >= 0 {
		r.Hi = w.listing(p.blobRef)[i].Hi
	}
	return r
}

// annotate gives a region its lines: its instructions with their counts, and
// the print margin around them. It also moves the region's ends to those of
// its first and last instruction.
func (w *work) annotate(r *Region, p *piece) {
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
		return
	}
	first = max(0, first-w.opts.PrintMargin)
	last = min(len(insts)-1, last+w.opts.PrintMargin)
	r.Lines = make([]Line, 0, last-first+1)
	for _, in := range insts[first : last+1] {
		r.Lines = append(r.Lines, w.line(p, in))
	}
	for pc, c := range p.at {
		if i := find(insts, pc); i >= first && i <= last {
			r.Lines[i-first].Counts.Add(c)
		}
	}
}

func (w *work) line(p *piece, in printassembly.Instruction) Line {
	l := Line{Instruction: in, Counts: make(Counts, w.n)}
	if l.Direct() && (in.Target < p.Lo || in.Target >= p.Hi) {
		j := w.b.jvms[p.jvm]
		if i, ok := j.code.Find(in.Target, p.UptimeMillis); ok {
			l.TargetName = j.Log.Blobs[i].Name
		}
	}
	return l
}
