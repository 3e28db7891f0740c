package profile

import (
	"github.com/gasm-profiler/gasm/profile/annotated"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
)

// nativeCode returns the native functions whose code is known, hottest first, as code that can be cut into regions.
// Their samples are also counted by function. To count no sample twice, use the result only for regions, listings and
// instructions, and not for sums.
func (w *work) nativeCode() []*mergedCode {
	var all []*mergedCode
	for _, f := range w.trial.nativeAt.Functions(w.n) {
		ref := jvmcode.Ref{JVM: jvmcode.OfNative, Index: f.Index}
		s := &sampledBlob{Ref: ref, Blob: w.code.Blob(ref), counts: f.Counts, atPC: f.AtPC}
		all = append(all, &mergedCode{sampledBlob: s, mergedAtPC: f.AtPC, pidsAtPC: f.PIDs, blobs: []*sampledBlob{s}})
	}
	return all
}

// chooseHot marks the regions that are to be annotated, and sets TooFew. The cuts must be sorted, hottest first.
func (r *regionCutter) chooseHot(cuts []regionCut) {
	if r.opts.SkipLines {
		return
	}
	regions := make([]annotated.Region, len(cuts))
	for i := range cuts {
		c := &cuts[i]
		regions[i] = annotated.Region{Source: c.Source, Method: c.Method, Kind: c.from.Kind, HasCode: c.from.HasCode,
			Counts: c.Counts}
	}
	rule := annotated.Rule{Threshold: r.p.HotThreshold, Least: r.opts.Regions, MinSamples: r.opts.MinSamples,
		Share: r.p.Share}
	chosen, tooFew := rule.Choose(regions)
	for i := range cuts {
		cuts[i].Hot = chosen[i]
	}
	r.p.TooFew = tooFew
}
