package profile

import (
	"cmp"
	"slices"
)

// SlicesPerJVM is how many slices of equal time the measurement of each JVM of
// a benchmark is cut into. A compilation that comes into use in the middle of
// the measurement makes slices differ, and comes at another time in the next
// run; so what differs from slice to slice tells how much two runs may differ.
const SlicesPerJVM = 5

// A slicing tells in which slice of a trial a time is. Only benchmarks are cut,
// which should be the same from beginning to end; other programs have phases.
type slicing struct {
	spans []span
	n     int // slices, over all JVMs; 0 for a trial that is not cut
}

// A span is a window and its place in the slices of its JVM.
type span struct {
	Window
	first         int   // the JVM's first slice
	before, whole int64 // ns that the JVM's windows have before this one, and in all
}

func newSlicing(t *Trial) slicing {
	var s slicing
	windows := slices.Clone(t.Windows)
	slices.SortStableFunc(windows, func(a, b Window) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.FromMonoNanos, b.FromMonoNanos))
	})
	for from := 0; from < len(windows); {
		to := from
		var whole int64
		for ; to < len(windows) && windows[to].PID == windows[from].PID; to++ {
			s.spans = append(s.spans, span{Window: windows[to], first: s.n, before: whole})
			whole += windows[to].ToMonoNanos - windows[to].FromMonoNanos
		}
		for ; from < to; from++ {
			s.spans[from].whole = whole
		}
		s.n += SlicesPerJVM
	}
	if t.Name == "" {
		s.n = 0
	}
	return s
}

// find gives the slice of a time, and whether the time is in a window at all.
// Without windows, and for a sample without a time, it is.
func (s *slicing) find(pid int, mono int64) (slice int, in bool) {
	if len(s.spans) == 0 || mono < 0 {
		return 0, true
	}
	for i := range s.spans {
		w := &s.spans[i]
		if w.PID == pid && w.FromMonoNanos <= mono && mono < w.ToMonoNanos {
			if s.n == 0 {
				return 0, true
			}
			return w.first + int((w.before+mono-w.FromMonoNanos)*SlicesPerJVM/w.whole), true
		}
	}
	return 0, false
}

// sliced makes counts for the slices of the trial: none for one that is not cut.
func (w *work) sliced() []Counts {
	if w.trial.slicing.n == 0 {
		return nil
	}
	return w.zeros(w.trial.slicing.n)
}

// addAll adds counts slice by slice.
func addAll(to, more []Counts) {
	for i, c := range more {
		to[i].Add(c)
	}
}

// slices sums up all samples over time.
func (w *work) slices(sampled []*sampledBlob) []Counts {
	sum := w.sliced()
	if sum == nil {
		return nil
	}
	for _, s := range sampled {
		for _, over := range s.slices {
			addAll(sum, over)
		}
	}
	for key, c := range w.trial.native {
		sum[key.slice].Add(c)
	}
	for key, c := range w.trial.unresolved {
		sum[key.slice].Add(c)
	}
	return sum
}
