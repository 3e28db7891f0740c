package windows

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/capture"
)

// SlicesPerJVM is how many slices a benchmark's time is cut into. Each JVM's measured time is cut
// separately, into slices of equal length. The differences between the slices show how much two
// runs may differ. For example, the JVM may compile a method again in the middle of the
// measurement. Then the slices before and after that moment differ. In the next run the moment is a
// different one, so the two runs differ as well.
const SlicesPerJVM = 5

// A Timeline finds the trial and the slice that a sample of a JVM belongs to. Only benchmarks are
// cut into slices. They should behave the same from beginning to end, but other programs have
// phases.
type Timeline struct {
	windows []slicedWindow // windows, ascending, without overlaps; none for a JVM that is measured all the time
	trial   int            // the trial of a JVM that has no windows
	out     bool           // true if the JVM is in no trial
	named   bool           // true if the JVM is in a trial with a name
}

// A slicedWindow is a window of a JVM, with its position among the JVM's slices.
type slicedWindow struct {
	capture.Span
	trial         int    // index in the measurements
	name          string // the trial's name; only a trial with a name is cut into slices
	first         int    // the number of the JVM's first slice
	before, whole int64  // ns in the trial's windows of this JVM: in those before this window, and in all of them
}

// lastTime is a time in ns that is later than any sample. To get there, a machine would have to run
// for 36 years.
const lastTime = 1 << 60

// Timelines returns the timelines of all JVMs of the trials, by process id.
//
// A JVM runs one trial at a time, so its windows do not overlap. In a damaged capture they may;
// then the shared time belongs to the window that begins first. The other window is shortened or
// left out. The second result is the number of windows that were shortened or left out because they
// overlapped a window of another trial.
func Timelines(trials []Measurement) (lines map[int]*Timeline, overlapping int) {
	lines = map[int]*Timeline{}
	for i := range trials {
		t := &trials[i]
		first := map[int]int{}
		for n, pid := range t.PIDs {
			first[pid] = n * SlicesPerJVM
			if len(t.Windows) == 0 && lines[pid] == nil {
				lines[pid] = &Timeline{trial: i}
			}
		}
		for _, w := range t.Windows {
			line := lines[w.PID]
			if line == nil {
				line = new(Timeline)
				lines[w.PID] = line
			}
			line.named = line.named || t.Name != ""
			span := capture.Span{FromMonoNanos: max(w.FromMonoNanos, 0), ToMonoNanos: min(w.ToMonoNanos, lastTime)}
			line.windows = append(line.windows, slicedWindow{Span: span, trial: i, name: t.Name, first: first[w.PID]})
		}
	}
	for _, line := range lines {
		overlapping += line.order()
	}
	return lines, overlapping
}

// order sorts the windows, removes their overlaps, and sums up their lengths. It returns how many windows overlapped a
// window of another trial.
func (l *Timeline) order() (overlapping int) {
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
		// An empty window is kept only if it is the first one: it still says which trial the JVM
		// belongs to.
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

// NotMeasured returns the timeline of a JVM that is in no trial.
func NotMeasured() *Timeline { return &Timeline{out: true} }

// Measured reports whether the JVM is in a trial.
func (l *Timeline) Measured() bool { return !l.out }

// Named reports whether the JVM is in a trial with a name.
func (l *Timeline) Named() bool { return l.named }

// Find returns the trial and the slice that a time on CLOCK_MONOTONIC, in ns, belongs to. The last
// result is false if the time is in no window. A negative time means that a sample has no time.
// Such a sample counts for the JVM's first window.
func (l *Timeline) Find(mono int64) (trial, slice int, in bool) {
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
	if w.name == "" {
		return w.trial, 0, true
	}
	return w.trial, w.first + int((w.before+mono-w.FromMonoNanos)*SlicesPerJVM/w.whole), true
}

// Slice returns when slice i of the JVM began and ended, for i from 0 to SlicesPerJVM-1. trial is
// the name of the benchmark whose windows were cut. FromMonoNanos is -1 if the slice has no time.
func (l *Timeline) Slice(trial string, i int64) capture.Span {
	span := capture.Span{FromMonoNanos: -1}
	for _, win := range l.windows {
		if win.name != trial || win.whole < SlicesPerJVM {
			continue
		}
		lo, hi := i*win.whole/SlicesPerJVM-win.before, (i+1)*win.whole/SlicesPerJVM-win.before
		if length := win.ToMonoNanos - win.FromMonoNanos; lo < length && hi > 0 {
			if span.FromMonoNanos < 0 {
				span.FromMonoNanos = win.FromMonoNanos + max(lo, 0)
			}
			span.ToMonoNanos = win.FromMonoNanos + min(hi, length)
		}
	}
	return span
}
