package profile

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/capture"
)

// SlicesPerJVM is how many slices of equal time the measurement of each JVM of a
// benchmark is cut into. A compilation that comes into use in the middle of the
// measurement makes slices differ, and in the next run it comes at another time. So the
// difference from slice to slice says how much two runs may differ.
const SlicesPerJVM = 5

// A timeline tells in which trial and slice the samples of one JVM are. Only benchmarks are
// cut into slices, because they should be the same from beginning to end; other programs
// have phases.
type timeline struct {
	windows []slicedWindow // ascending, without overlaps; none for a JVM that is measured all the time
	samples Counts         // of the JVM, in or out of its windows
	trial   int            // that a JVM without windows is in
	out     bool           // the JVM is in no trial
	named   bool           // the JVM is in a trial with a name
}

// A slicedWindow is a window and its place in the slices of its JVM.
type slicedWindow struct {
	capture.Span
	trial         int   // index in Builder.trials
	sliced        bool  // the trial is cut into slices
	first         int   // the number of the JVM's first slice
	before, whole int64 // time in the JVM's windows of the trial before this one, and in all of them, ns
}

// lastTime is later than any time of a sample, in ns: 36 years.
const lastTime = 1 << 60

// newTimelines makes the timelines of all JVMs that the trials have windows of.
//
// A JVM does one thing at a time, so its windows do not overlap. In a damaged capture they
// may; then the time belongs to the window that begins first. The result overlapping is how
// many windows were cut off or left out for that in favour of another trial.
func newTimelines(trials []measurement) (lines map[int]*timeline, overlapping int) {
	lines = map[int]*timeline{}
	for i := range trials {
		t := &trials[i]
		first := map[int]int{}
		for n, pid := range t.pids {
			first[pid] = n * SlicesPerJVM
			if len(t.Windows) == 0 && lines[pid] == nil {
				lines[pid] = &timeline{trial: i}
			}
		}
		for _, w := range t.Windows {
			line := lines[w.PID]
			if line == nil {
				line = new(timeline)
				lines[w.PID] = line
			}
			line.named = line.named || t.Name != ""
			span := capture.Span{FromMonoNanos: max(w.FromMonoNanos, 0), ToMonoNanos: min(w.ToMonoNanos, lastTime)}
			line.windows = append(line.windows, slicedWindow{Span: span, trial: i, sliced: t.Name != "", first: first[w.PID]})
		}
	}
	for _, line := range lines {
		overlapping += line.order()
	}
	return lines, overlapping
}

// order sorts the windows, ends their overlaps, and finds out how long they are together.
func (l *timeline) order() (overlapping int) {
	slices.SortStableFunc(l.windows, func(a, b slicedWindow) int { return cmp.Compare(a.FromMonoNanos, b.FromMonoNanos) })
	whole := map[int]int64{} // by trial
	kept := l.windows[:0]
	for _, w := range l.windows {
		if n := len(kept); n > 0 && w.FromMonoNanos < kept[n-1].ToMonoNanos && w.FromMonoNanos < w.ToMonoNanos {
			if kept[n-1].trial != w.trial {
				overlapping++
			}
			w.FromMonoNanos = kept[n-1].ToMonoNanos
		}
		w.before = whole[w.trial]
		whole[w.trial] += max(w.ToMonoNanos-w.FromMonoNanos, 0)
		// A window of no time says which trial the JVM belongs to.
		if w.FromMonoNanos < w.ToMonoNanos || len(kept) == 0 {
			kept = append(kept, w)
		}
	}
	for i := range kept {
		kept[i].whole = whole[kept[i].trial]
	}
	l.windows = slices.Clip(kept)
	return overlapping
}

// find gives the trial and the slice of a time, and tells whether the time is in a window at
// all. A sample without a time is in the JVM's first window.
func (l *timeline) find(mono int64) (trial, slice int, in bool) {
	if len(l.windows) == 0 {
		return l.trial, 0, !l.out
	}
	if mono < 0 {
		return l.windows[0].trial, l.windows[0].first, true
	}
	after := sort.Search(len(l.windows), func(i int) bool { return l.windows[i].FromMonoNanos > mono })
	if after == 0 || mono >= l.windows[after-1].ToMonoNanos {
		return 0, 0, false
	}
	w := &l.windows[after-1]
	if !w.sliced {
		return w.trial, 0, true
	}
	return w.trial, w.first + int((w.before+mono-w.FromMonoNanos)*SlicesPerJVM/w.whole), true
}

// newSlices makes counts for the slices of the trial; nil for a trial that is not cut.
func (w *work) newSlices() []Counts {
	if w.trial.Name == "" {
		return nil
	}
	return w.zeros(len(w.trial.pids) * SlicesPerJVM)
}

// addSlices adds the counts of one JVM's slices, from its first one on, to those of all.
func addSlices(to []Counts, first int, over []Counts) {
	if to == nil {
		return
	}
	for i, c := range over {
		to[first+i].Add(c)
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
			addSlices(sum, s.firstSlice, over)
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
