package waits

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/wall"
)

// A VirtualPlace is a place where unmounted virtual threads waited, that is, threads without a carrier thread.
type VirtualPlace struct {
	State wall.State
	Frame event.Frame
	For   string // the class of the lock; may be ""
	// Mean is the mean number of virtual threads at the place, over all counts in the trial's JVMs. Most is the largest
	// of these numbers. If the recorder looked at only some of the threads, both are estimates.
	Mean float64
	Most int
}

// A VirtualSum says how virtual threads were counted.
type VirtualSum struct {
	Counts int // how often virtual threads were counted, in all JVMs together
	Moved  int // number of counts that could look at no thread, because a collector moved objects
	// Each number here is a mean over the counts, without those in Moved. Threads is the number of virtual threads.
	// Looked is how many of them the recorder looked at. Of these, Mounted were mounted on a carrier thread, and Unread
	// could not be read. Untracked is the number of virtual threads that can't be looked at, because the JVM has no
	// list of them. They are not in Threads.
	Threads, Looked, Mounted, Unread, Untracked float64
}

// A virtualCount is a count of all virtual threads of a JVM.
type virtualCount struct {
	trial, pid int
	wall.VirtualCount
}

// The type virtuals is the number of virtual threads that one count found at a place.
type virtuals struct {
	trial, pid int
	at         int64
	count      int
	stack      callstack.ID
	lock       int32
	state      wall.State
}

// maxVirtuals is the maximum number of counts that are kept. Further ones are left out, and a note says so.
const maxVirtuals = 1 << 20

// addVirtualCount adds a count of all virtual threads, if its time is in a window.
func (f *file) addVirtualCount(c *wall.VirtualCount) {
	f.timeline.Cut(capture.Span{FromMonoNanos: c.MonoNanos, ToMonoNanos: c.MonoNanos + 1},
		func(trial int, _ capture.Span) {
			if f.more = f.more || len(f.virtualCounts) >= maxVirtuals || len(f.virtual) >= maxVirtuals; !f.more {
				f.virtualCounts = append(f.virtualCounts, virtualCount{trial, f.pid, *c})
			}
		})
}

// addVirtuals adds the number of virtual threads that a count found at a place, if the count's time is in a window.
func (f *file) addVirtuals(v *wall.Virtuals) {
	f.timeline.Cut(capture.Span{FromMonoNanos: v.MonoNanos, ToMonoNanos: v.MonoNanos + 1},
		func(trial int, _ capture.Span) {
			if f.more = f.more || len(f.virtual) >= maxVirtuals; !f.more {
				f.virtual = append(f.virtual, virtuals{trial, f.pid, v.MonoNanos, v.Count, f.stack(v.Stack), f.lockOf(v.Lock),
					v.State})
			}
		})
}

// addVirtual sums up the counts of virtual threads by place.
func (b *builder) addVirtual(trial int, pids []int) {
	type key struct {
		state wall.State
		frame event.Frame
		about string
	}
	moments := b.sumVirtual(trial, pids)
	sums, counts := map[key]int{}, map[key]map[moment]int{}
	for _, v := range b.virtual {
		if v.trial != trial || !slices.Contains(pids, v.pid) {
			continue
		}
		at := moment{v.pid, v.at}
		moments[at] = true
		k := key{v.state, byLine(b.places.frame(v.stack, v.state)), b.about(v.lock, 0)}
		sums[k] += v.count
		if counts[k] == nil {
			counts[k] = map[moment]int{}
		}
		counts[k][at] += v.count
	}
	for k, sum := range sums {
		most := 0
		for _, n := range counts[k] {
			most = max(most, n)
		}
		b.Virtual = append(b.Virtual, VirtualPlace{k.state, k.frame, k.about, float64(sum) / float64(len(moments)), most})
	}
	slices.SortFunc(b.Virtual, func(x, y VirtualPlace) int {
		return cmp.Or(cmp.Compare(y.Mean, x.Mean), cmp.Compare(x.State, y.State), compareFrames(x.Frame, y.Frame),
			cmp.Compare(x.For, y.For))
	})
}

// A moment is the time of a count in a JVM.
type moment struct {
	pid int
	at  int64
}

// sumVirtual sets VirtualSum. It returns the times of all counts except those in which no thread could be looked at,
// although there were threads (VirtualSum.Moved).
func (b *builder) sumVirtual(trial int, pids []int) map[moment]bool {
	moments := map[moment]bool{}
	s := &b.VirtualSum
	for i := range b.virtualCounts {
		c := &b.virtualCounts[i]
		if c.trial != trial || !slices.Contains(pids, c.pid) {
			continue
		}
		s.Counts++
		if c.Looked == 0 && c.Threads > 0 {
			s.Moved++
			continue
		}
		moments[moment{c.pid, c.MonoNanos}] = true
		s.Threads += float64(c.Threads)
		s.Looked += float64(c.Looked)
		s.Mounted += float64(c.Mounted)
		s.Unread += float64(c.Unread)
		s.Untracked += float64(c.Untracked)
	}
	if n := float64(s.Counts - s.Moved); n > 0 {
		for _, sum := range []*float64{&s.Threads, &s.Looked, &s.Mounted, &s.Unread, &s.Untracked} {
			*sum /= n
		}
	}
	return moments
}
