package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
)

// Join combines several captures or reports of the same program into one Side that has all their
// samples. The differences between the captures then count as noise, like the differences between
// forks.
func Join(sides []*Side) (*Side, error) {
	if len(sides) == 1 {
		return sides[0], nil
	}
	all := *sides[0]
	all.Notes, all.JVMs, all.Trials = nil, nil, nil
	var names []string
	index := map[trialKey]int{}
	for _, s := range sides {
		names = append(names, s.Name)
		if s.Selection != all.Selection || s.Chosen != all.Chosen {
			return nil, fmt.Errorf("%s has other samples or other code (%s) than %s (%s): they can't be one side", s.Name,
				cmp.Or(strings.TrimSpace(s.Chosen+" "+s.Selection), "all"), sides[0].Name,
				cmp.Or(strings.TrimSpace(all.Chosen+" "+all.Selection), "all"))
		}
		all.JVMs = append(all.JVMs, s.JVMs...)
		for _, note := range s.Notes {
			if !slices.Contains(all.Notes, note) && len(all.Notes) < maxNotes {
				all.Notes = append(all.Notes, note)
			}
		}
		for i := range s.Trials {
			t := &s.Trials[i]
			key := trialKey{t.Name, t.Program, t.JDK}
			at, ok := index[key]
			if !ok {
				index[key] = len(all.Trials)
				all.Trials = append(all.Trials, newRuns(t))
				continue
			}
			if t.Samples > 0 && all.Trials[at].Samples > 0 && t.Event != all.Trials[at].Event {
				return nil, fmt.Errorf("%s has samples of %s, %s of %s: they can't be one side", s.Name, t.Event, sides[0].Name,
					all.Trials[at].Event)
			}
			all.Trials[at].add(t)
		}
	}
	all.Name = strings.Join(names, ", ")
	for i := range all.Trials {
		all.Trials[i].Regions = mergeRegions(all.Trials[i].Regions)
	}
	return &all, nil
}

// maxNotes is the maximum number of notes of a joined side. Further notes are left out.
const maxNotes = 100

// newRuns returns a copy of a trial, to which [TrialSide.add] can add the same trial of other
// captures. The copy has counts by fork. If the capture has no forks, the whole capture counts as
// one fork.
func newRuns(t *TrialSide) TrialSide {
	first := *t
	first.Runs = nil
	if nanos, ok := t.scoreNanos(); ok {
		first.Runs = []float64{nanos}
	}
	first.CPURuns = nil
	if t.NanosPerOp > 0 {
		first.CPURuns = []float64{t.NanosPerOp}
	}
	first.Forks = forksOf(t)
	first.Methods, first.Frames = withForks(t, t.Methods), withForks(t, t.Frames)
	first.Regions = slices.Clone(t.Regions)
	return first
}

// forksOf returns the samples of each fork, or of the whole capture if it has no forks.
func forksOf(t *TrialSide) []int64 {
	if len(t.Forks) > 0 {
		return slices.Clone(t.Forks)
	}
	return []int64{t.Samples}
}

// withForks returns a copy of the items (methods or frames) with their counts by fork. If an item's counts by fork are
// unknown, its Forks is nil.
func withForks(t *TrialSide, items []Item) []Item {
	out := slices.Clone(items)
	for i := range out {
		out[i].Forks = itemForks(t, &out[i])
	}
	return out
}

func itemForks(t *TrialSide, item *Item) []int64 {
	if len(t.Forks) == 0 {
		return []int64{item.Count}
	}
	if len(item.Forks) != len(t.Forks) {
		return nil
	}
	return slices.Clone(item.Forks)
}

// add adds the same trial of another capture.
func (t *TrialSide) add(more *TrialSide) {
	t.addScores(more)
	forks := forksOf(more)
	g := groups{forks: len(t.Forks), moreForks: len(forks)}
	if len(t.Slices) > 0 && len(more.Slices) > 0 {
		g.slices, g.moreSlices = len(t.Slices), len(more.Slices)
		t.Slices = slices.Concat(t.Slices, more.Slices)
	} else {
		t.Slices = nil
	}
	t.Forks = append(t.Forks, forks...)
	t.Methods = g.join(t.Methods, withForks(more, more.Methods))
	t.Frames = g.join(t.Frames, withForks(more, more.Frames))
	t.Regions = append(t.Regions, more.Regions...)
	t.Calls = joinCalls(t.Calls, more.Calls)
	t.Samples, t.Seconds = t.Samples+more.Samples, t.Seconds+more.Seconds
	t.Event = cmp.Or(t.Event, more.Event)
}

// addScores adds JMH's scores and the CPU times per operation of another capture. If a value is
// unknown in one of the two captures, it is unknown afterwards.
func (t *TrialSide) addScores(more *TrialSide) {
	t.Score = t.Score.With(more.Score)
	if nanos, ok := more.scoreNanos(); ok && t.Score != nil && len(t.Runs) > 0 {
		t.Runs = append(t.Runs, nanos)
	} else {
		t.Runs = nil
	}
	if more.NanosPerOp > 0 && len(t.CPURuns) > 0 {
		t.CPURuns = append(t.CPURuns, more.NanosPerOp)
	} else {
		t.CPURuns = nil
	}
	if t.NanosPerOp > 0 && more.NanosPerOp > 0 {
		t.NanosPerOp = (t.NanosPerOp*t.Operations + more.NanosPerOp*more.Operations) / (t.Operations + more.Operations)
		t.Operations += more.Operations
	} else {
		t.NanosPerOp, t.Operations = 0, 0
	}
}

// groups has the numbers of forks and of time slices that two trials have before they are joined.
// If one of the trials has no slices, both numbers of slices are 0.
type groups struct{ forks, moreForks, slices, moreSlices int }

// join adds the items of another trial to the items of a trial. If only one of the trials has an
// item, the item gets zeros for the forks and slices of the other trial.
func (g groups) join(items, more []Item) []Item {
	others := byKey(more)
	none := Item{Forks: make([]int64, g.moreForks), Slices: make([]int64, g.moreSlices)}
	for i := range items {
		key := items[i].key()
		g.add(&items[i], cmp.Or(others[key], &none))
		delete(others, key)
	}
	for i := range more {
		if others[more[i].key()] == nil {
			continue
		}
		item := Item{Source: more[i].Source, Name: more[i].Name, Forks: make([]int64, g.forks),
			Slices: make([]int64, g.slices)}
		g.add(&item, &more[i])
		items = append(items, item)
	}
	return items
}

// add adds the counts of other to those of item. The two are the same item in two trials.
func (g groups) add(item, other *Item) {
	item.Count += other.Count
	item.Forks = joined(item.Forks, g.forks, other.Forks)
	item.Slices = joined(item.Slices, g.slices, other.Slices[:min(len(other.Slices), g.moreSlices)])
}

// joined returns the counts of n groups, followed by those of the other trial. It returns nil if
// some counts are unknown. That is the case if the first list does not have n elements, or if the
// second list is empty.
func joined(counts []int64, n int, more []int64) []int64 {
	if len(counts) != n || len(more) == 0 {
		return nil
	}
	return slices.Concat(counts, more)
}

// scoreNanos returns the time per operation of JMH's score, in ns. ok is false if the score is
// unknown, or if its unit is neither a time nor a throughput.
func (t *TrialSide) scoreNanos() (nanos float64, ok bool) {
	if t.Score == nil {
		return 0, false
	}
	return capture.Nanos(t.Score.Value, t.Score.Unit)
}
