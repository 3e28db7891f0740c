package profile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// callers returns compiled code that has no samples itself, but is on the call stacks of many samples, at least the
// share leastCaller of the profile. Code on the most stacks comes first. It returns nil if the capture has no call
// stacks.
func (w *work) callers(p *Profile) []*mergedCode {
	if w.b.stacks == nil {
		return nil
	}
	sampled := map[jvmcode.Ref]bool{}
	for _, s := range w.sampled {
		sampled[s.Ref] = true
	}
	compiled := w.compiledFrames()
	counts := map[jvmcode.Ref]tally.Counts{}
	seen := map[jvmcode.Ref]bool{} // counted for the current stack already; recursive code is on it several times
	w.trial.stacks.Each(w.n, func(k calltree.Key[spot], c tally.Counts) {
		clear(seen)
		for f := range w.b.stacks.Frames(k.Stack) {
			if ref, ok := compiled.find(f); ok && !sampled[ref] && !seen[ref] {
				seen[ref] = true
				tally.AddTo(counts, ref, c, w.n)
			}
		}
	})
	maps.DeleteFunc(counts, func(_ jvmcode.Ref, c tally.Counts) bool { return p.Share(c) < leastCaller })
	refs := slices.SortedFunc(maps.Keys(counts), func(a, b jvmcode.Ref) int {
		return cmp.Or(tally.Compare(counts[a], counts[b]), cmp.Compare(a.JVM, b.JVM), cmp.Compare(a.Index, b.Index))
	})
	var all []*mergedCode
	for _, ref := range refs {
		all = append(all, &mergedCode{sampledBlob: &sampledBlob{Ref: ref, Blob: w.code.Blob(ref),
			pid:    w.b.jvms.List[ref.JVM].PID,
			counts: make(tally.Counts, w.n)}})
	}
	return all
}

// A compiledFrames finds the compiled code that a frame of a call stack is in.
type compiledFrames struct {
	w     *work
	byID  map[int][]jvmcode.Ref // the compiled code of all JVMs, by compile id
	found map[*callstack.Frame]jvmcode.Ref
}

func (w *work) compiledFrames() *compiledFrames {
	c := &compiledFrames{w, map[int][]jvmcode.Ref{}, map[*callstack.Frame]jvmcode.Ref{}}
	for i, j := range w.b.jvms.List {
		if !slices.Contains(w.trial.PIDs, j.PID) {
			continue
		}
		for k := range j.Log.Blobs {
			if b := &j.Log.Blobs[k]; b.Kind.Java() {
				c.byID[b.ID] = append(c.byID[b.ID], jvmcode.Ref{JVM: i, Index: k})
			}
		}
	}
	return c
}

// find returns the code that a frame is in. It returns false if the frame is not one of compiled code, if the log does
// not have the code, or if more than one JVM has code with the same compile id at this address.
func (c *compiledFrames) find(f *callstack.Frame) (ref jvmcode.Ref, ok bool) {
	if f.Kind != callstack.Compiled {
		return ref, false
	}
	none := jvmcode.Ref{JVM: -1, Index: -1}
	ref, known := c.found[f]
	if !known {
		ref = none
		for _, one := range c.byID[f.CompileID] {
			if b := c.w.code.Blob(one); f.PC <= b.Lo || f.PC > b.Hi {
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
