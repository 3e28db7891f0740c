package profile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// callers returns the compiled code that has no samples itself, but has called code with at least leastCaller of the
// profile's samples, the most first. It returns nil if the capture has no call stacks.
func (w *work) callers(p *Profile) []*mergedCode {
	if w.b.stacks == nil {
		return nil
	}
	sampled := map[blobRef]bool{}
	for _, s := range w.sampled {
		sampled[s.blobRef] = true
	}
	compiled := w.compiledFrames()
	counts := map[blobRef]tally.Counts{}
	seen := map[blobRef]bool{} // on the stack of one sample, on which recursive code is several times
	w.trial.stacks.Each(w.n, func(k calltree.Key[spot], c tally.Counts) {
		clear(seen)
		for f := range w.b.stacks.Frames(k.Stack) {
			if ref, ok := compiled.find(f); ok && !sampled[ref] && !seen[ref] {
				seen[ref] = true
				tally.AddTo(counts, ref, c, w.n)
			}
		}
	})
	maps.DeleteFunc(counts, func(_ blobRef, c tally.Counts) bool { return p.Share(c) < leastCaller })
	refs := slices.SortedFunc(maps.Keys(counts), func(a, b blobRef) int {
		return cmp.Or(tally.Compare(counts[a], counts[b]), cmp.Compare(a.jvm, b.jvm), cmp.Compare(a.blob, b.blob))
	})
	var all []*mergedCode
	for _, ref := range refs {
		all = append(all, &mergedCode{sampledBlob: &sampledBlob{blobRef: ref, Blob: w.code.blob(ref), pid: w.b.jvms[ref.jvm].PID,
			counts: make(tally.Counts, w.n)}})
	}
	return all
}

// A compiledFrames finds the code that the frames of stacks belong to.
type compiledFrames struct {
	w     *work
	byID  map[int][]blobRef // by compile id
	found map[*callstack.Frame]blobRef
}

func (w *work) compiledFrames() *compiledFrames {
	c := &compiledFrames{w, map[int][]blobRef{}, map[*callstack.Frame]blobRef{}}
	for i, j := range w.b.jvms {
		if !slices.Contains(w.trial.PIDs, j.PID) {
			continue
		}
		for k := range j.Log.Blobs {
			if b := &j.Log.Blobs[k]; b.Kind.Java() {
				c.byID[b.ID] = append(c.byID[b.ID], blobRef{i, k})
			}
		}
	}
	return c
}

// find returns the code of a frame. It returns false if the frame is not that of a compiled method, if the code is not
// in the log, or if it could be that of several JVMs.
func (c *compiledFrames) find(f *callstack.Frame) (ref blobRef, ok bool) {
	if f.Kind != callstack.Compiled {
		return ref, false
	}
	none := blobRef{-1, -1}
	ref, known := c.found[f]
	if !known {
		ref = none
		for _, one := range c.byID[f.CompileID] {
			if b := c.w.code.blob(one); f.PC <= b.Lo || f.PC > b.Hi {
				continue
			}
			if ref != none {
				ref = none
				break
			}
			ref = one
		}
		c.found[f] = ref
	}
	return ref, ref != none
}
