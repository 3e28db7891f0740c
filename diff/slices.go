package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/sampler"
)

// sliceCount is how many slices of equally many samples the run of each JVM is
// cut into. A compilation that comes into use in the middle of the measurement
// makes slices differ, and comes at another time in the next run.
const sliceCount = 5

// A Slicer counts samples over time, for trials that should be the same from
// beginning to end: benchmarks. Other programs have phases.
type Slicer struct {
	trials []slicedTrial
}

type slicedTrial struct {
	*Trial
	windows profile.Trial
	at      map[place]placeItems
	hits    map[int][]hit // by process
}

// A place is where a sample can be: code by its address, native code by its
// name.
type place struct {
	pid            int
	pc             uint64
	module, symbol string
}

type placeItems struct{ method, frame *Item }

type hit struct {
	mono int64
	placeItems
}

// NewSlicer makes a slicer for a side that [FromProfiles] made of ps, with the
// trials that the profiles are of. ps need [profile.Options.Locations].
func NewSlicer(s *Side, trials []profile.Trial, ps []profile.Profile) *Slicer {
	var sl Slicer
	for i := range min(len(trials), len(ps)) {
		if trials[i].Name == "" {
			continue
		}
		t := slicedTrial{Trial: &s.Trials[i], windows: trials[i], at: map[place]placeItems{}, hits: map[int][]hit{}}
		methods, frames := index(t.Methods), index(t.Frames)
		for _, l := range ps[i].Locations {
			items := placeItems{method: methods[locationKey(&l)]}
			if len(l.Frames) > 0 {
				items.frame = frames[itemKey{"", l.Frames[0].Method}]
			}
			t.at[place{l.PID, l.PC, l.Module, pick(l.Module != "", l.Name, "")}] = items
		}
		sl.trials = append(sl.trials, t)
	}
	return &sl
}

// Wanted tells whether there is a trial to cut into slices.
func (sl *Slicer) Wanted() bool { return len(sl.trials) > 0 }

// Add takes one sample, in any order.
func (sl *Slicer) Add(s *sampler.Sample) {
	code := place{pid: s.PID, pc: s.PC}
	native := place{pid: s.PID, module: s.Module, symbol: s.Symbol}
	for i := range sl.trials {
		t := &sl.trials[i]
		if s.Event != t.Event || !t.inWindow(s) {
			continue
		}
		items, ok := t.at[code]
		if !ok {
			items = t.at[native]
		}
		t.hits[s.PID] = append(t.hits[s.PID], hit{s.MonoNanos, items})
	}
}

func (t *slicedTrial) inWindow(s *sampler.Sample) bool {
	return slices.Contains(t.windows.PIDs, s.PID) && (len(t.windows.Windows) == 0 ||
		slices.ContainsFunc(t.windows.Windows, func(w profile.Window) bool {
			return w.PID == s.PID && w.FromMonoNanos <= s.MonoNanos && s.MonoNanos < w.ToMonoNanos
		}))
}

// Finish puts the counts of all slices into the side.
func (sl *Slicer) Finish() {
	for i := range sl.trials {
		t := &sl.trials[i]
		n := sliceCount * len(t.hits)
		t.Slices = make([]int64, n)
		for _, items := range [][]Item{t.Methods, t.Frames} {
			for k := range items {
				items[k].Slices = make([]int64, n)
			}
		}
		first := 0
		for _, pid := range slices.Sorted(maps.Keys(t.hits)) {
			hits := t.hits[pid]
			slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.mono, b.mono) })
			for k, h := range hits {
				slice := first + k*sliceCount/len(hits)
				t.Slices[slice]++
				for _, item := range []*Item{h.method, h.frame} {
					if item != nil {
						item.Slices[slice]++
					}
				}
			}
			first += sliceCount
		}
	}
}
