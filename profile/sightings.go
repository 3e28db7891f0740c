package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
)

// Sightings are the samples of a trial one by one, for [Options.Parts]: only when all are there
// is it known which time the slices have to cover, and which threads are worth a name.
type sightings struct {
	places map[sightedAt]int32
	list   []sighting
}

// A sightedAt is where a sample was: an address in a blob's code, or a native function.
type sightedAt struct {
	jvm, blob int32 // of code: places in Builder.jvms and in the JVM's CodeMap
	pc        uint64
}

// Values of sightedAt.jvm for samples outside of code. In native code, blob is the function.
const (
	inNative     = -1
	inUnresolved = -2
)

// A sighting is one sample.
type sighting struct {
	place, pid, thread, event int32 // pid is the process's place in the trial
	mono                      int64
}

// wantParts has samples kept one by one from now on.
func (b *Builder) wantParts() {
	for _, t := range b.trials {
		t.sightings = &sightings{places: map[sightedAt]int32{}}
	}
}

// see adds a sample to the sightings, where they are wanted.
func (t *trialCounts) see(at sightedAt, pid int, thread int32, e int, mono int64) {
	if t.sightings == nil {
		return
	}
	s := t.sightings
	place, ok := s.places[at]
	if !ok {
		place = int32(len(s.places))
		s.places[at] = place
	}
	i, _ := slices.BinarySearch(t.pids, pid)
	s.list = append(s.list, sighting{place, int32(i), thread, int32(e), mono})
}

const (
	// maxProfileParts is how many parts a profile has at most: numbers that people choose from.
	maxProfileParts = 64
	// maxPartCounts bounds what is kept of all places by part: some bytes each in the page.
	maxPartCounts = 40_000
	// namedThreads are the hottest threads' names that are groups of their own.
	namedThreads = 8
	// timeSlices is how many slices of time a program without trials has at most.
	timeSlices = 12
)

// A cut is a way to cut samples into parts.
type cut struct {
	slices []TimeSlice
	of     func(s *sighting) int // the slice of a sample
}

// cuts are the ways to cut the time, the finest one first. Those with more slices than there
// may be parts are left out.
func (w *work) cuts() []cut {
	pids := w.trial.pids
	lo, hi := int64(lastTime), int64(-1)
	for i := range w.trial.sightings.list {
		if mono := w.trial.sightings.list[i].mono; mono >= 0 {
			lo, hi = min(lo, mono), max(hi, mono+1)
		}
	}
	var all []cut
	if w.trial.Name != "" && len(w.trial.Windows) > 0 {
		all = append(all, w.benchmarkCut())
	} else if lo < hi {
		for n := timeSlices; n > 1; n /= 2 {
			all = append(all, evenCut(pids, n, lo, hi))
		}
	}
	all = append(all, evenCut(pids, 1, min(lo, hi), hi), evenCut(pids[:min(len(pids), 1)], 1, min(lo, hi), hi))
	return slices.DeleteFunc(all, func(c cut) bool { return len(c.slices) > maxProfileParts })
}

// evenCut cuts the time from lo to hi into n equal slices for each process.
func evenCut(pids []int, n int, lo, hi int64) cut {
	c := cut{of: func(s *sighting) int {
		first := 0
		if len(pids) > 1 {
			first = int(s.pid) * n
		}
		if n == 1 || s.mono < lo {
			return first
		}
		return first + min(int(float64(s.mono-lo)/float64(hi-lo)*float64(n)), n-1)
	}}
	for _, pid := range pids {
		for i := range int64(n) {
			step := (hi - lo) / int64(n)
			slice := TimeSlice{PID: pid, Span: capture.Span{FromMonoNanos: lo + i*step, ToMonoNanos: lo + (i+1)*step}}
			if i == int64(n)-1 {
				slice.ToMonoNanos = hi
			}
			c.slices = append(c.slices, slice)
		}
	}
	return c
}

// benchmarkCut has the slices of a benchmark, as Profile.Slices.
func (w *work) benchmarkCut() cut {
	c := cut{of: func(s *sighting) int {
		line := w.b.lines[w.trial.pids[s.pid]]
		if line == nil {
			return 0
		}
		_, slice, _ := line.find(s.mono)
		return slice
	}}
	for _, pid := range w.trial.pids {
		for i := range int64(SlicesPerJVM) {
			c.slices = append(c.slices, TimeSlice{pid, w.b.lines[pid].slice(w.trial.Name, w.b.trials, i)})
		}
	}
	return c
}

// slice gives the times from the first to the last moment of a benchmark's slice.
func (l *timeline) slice(trial string, trials []*trialCounts, i int64) capture.Span {
	span := capture.Span{FromMonoNanos: -1}
	if l == nil {
		return span
	}
	for _, win := range l.windows {
		if trials[win.trial].Name != trial || win.whole < SlicesPerJVM {
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

// threadGroups gives each label of a thread its group: the hottest have one of their own, the
// others of each kind have one together.
func (w *work) threadGroups() (groups []ThreadGroup, of map[int32]int) {
	total := map[int32]int64{}
	for i := range w.trial.sightings.list {
		total[w.trial.sightings.list[i].thread]++
	}
	labels := make([]int32, 0, len(total))
	for label := range total {
		labels = append(labels, label)
	}
	slices.SortFunc(labels, func(a, b int32) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(w.b.seen.labels[a], w.b.seen.labels[b]))
	})
	of = make(map[int32]int, len(labels))
	for i, label := range labels {
		g := ThreadGroup{Kind: w.b.seen.kinds[label]}
		if i < namedThreads {
			g.Name = w.b.seen.labels[label]
		}
		at := slices.Index(groups, g)
		if at < 0 {
			at = len(groups)
			groups = append(groups, g)
		}
		of[label] = at
	}
	return groups, of
}
