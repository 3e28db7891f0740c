package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// SlicesPerJVM is how many slices of equal time the measurement of each JVM of a
// benchmark is cut into. A compilation that comes into use in the middle of the
// measurement makes slices differ, and in the next run it comes at another time. So the
// difference from slice to slice says how much two runs may differ.
const SlicesPerJVM = 5

// A slicing tells in which slice of a trial a time is. Only benchmarks are cut into
// slices, because they should be the same from beginning to end; other programs have
// phases.
type slicing struct {
	windows []slicedWindow
	n       int // slices, over all JVMs; 0 for a trial that is not cut
}

// A slicedWindow is a window and its place in the slices of its JVM.
type slicedWindow struct {
	capture.Window
	first         int   // the number of the JVM's first slice
	before, whole int64 // time in the JVM's windows before this one, and in all of them, ns
}

func newSlicing(t *capture.Trial) slicing {
	var s slicing
	windows := slices.Clone(t.Windows)
	slices.SortStableFunc(windows, func(a, b capture.Window) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.FromMonoNanos, b.FromMonoNanos))
	})
	for from := 0; from < len(windows); {
		to := from
		var whole int64
		for ; to < len(windows) && windows[to].PID == windows[from].PID; to++ {
			s.windows = append(s.windows, slicedWindow{Window: windows[to], first: s.n, before: whole})
			whole += windows[to].ToMonoNanos - windows[to].FromMonoNanos
		}
		for ; from < to; from++ {
			s.windows[from].whole = whole
		}
		s.n += SlicesPerJVM
	}
	if t.Name == "" {
		s.n = 0
	}
	return s
}

// find gives the slice of a time, and tells whether the time is in a window at all. It is
// in a trial that has no windows, and so is a sample without a time.
func (s *slicing) find(pid int, mono int64) (slice int, in bool) {
	if len(s.windows) == 0 || mono < 0 {
		return 0, true
	}
	for i := range s.windows {
		w := &s.windows[i]
		if w.PID == pid && w.FromMonoNanos <= mono && mono < w.ToMonoNanos {
			if s.n == 0 {
				return 0, true
			}
			return w.first + int((w.before+mono-w.FromMonoNanos)*SlicesPerJVM/w.whole), true
		}
	}
	return 0, false
}

// newSlices makes counts for the slices of the trial; nil for a trial that is not cut.
func (w *work) newSlices() []Counts {
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

// overTime sums up all samples, slice by slice.
func (w *work) overTime(sampled []*sampledBlob) []Counts {
	sum := w.newSlices()
	if sum == nil {
		return nil
	}
	for _, s := range sampled {
		for _, over := range s.overTime {
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
