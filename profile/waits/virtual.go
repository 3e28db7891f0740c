package waits

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/wall"
)

// A VirtualPlace is a place where virtual threads waited that were not mounted on a thread.
type VirtualPlace struct {
	State wall.State
	Frame event.Frame
	For   string // the class of the lock; may be ""
	// Mean is the mean number of threads there over all counts of their JVMs, and Most is the largest number.
	Mean float64
	Most int
}

// A virtuals is one count of virtual threads at a place.
type virtuals struct {
	trial, pid int
	at         int64
	count      int
	stack      callstack.ID
	lock       int32
	state      wall.State
}

// maxVirtuals is the maximum number of counts that are kept. Further ones are ignored.
const maxVirtuals = 1 << 20

// addVirtuals adds a count, if its time is in a window.
func (f *file) addVirtuals(v *wall.Virtuals) {
	f.timeline.Cut(capture.Span{FromMonoNanos: v.MonoNanos, ToMonoNanos: v.MonoNanos + 1},
		func(trial int, _ capture.Span) {
			if len(f.virtual) < maxVirtuals {
				f.virtual = append(f.virtual, virtuals{trial, f.pid, v.MonoNanos, v.Count, f.stack(v.Stack), f.lockOf(v.Lock),
					v.State})
			}
		})
}

// addVirtual sums up the counts of virtual threads by place.
func (b *builder) addVirtual(trial int, pids []int) {
	type moment struct {
		pid int
		at  int64
	}
	type key struct {
		state wall.State
		frame event.Frame
		about string
	}
	moments := map[moment]bool{}
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
