// Package parts cuts the samples of a profile by time and by thread, so that a reader can look at some of them alone: at
// one fork, at the beginning of a run, at one pool of threads.
//
// A [Cutter] takes the list of all samples, because only after the last one is it known which time the slices have to
// cover, and which threads are hot enough to have a group of their own. It cuts as finely as there is room for. What
// the samples were in is only a number to it, the spot. [Sums] add up the parts of many spots.
package parts

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Part is the samples of a thread group in a slice of time.
type Part struct{ Slice, Thread int } // indexes in the lists of slices and of threads

// A TimeSlice is a slice of the time of one JVM. If there are too many JVMs to tell them apart, there is one slice for
// all of them, with the PID of the first.
type TimeSlice struct {
	PID int
	capture.Span
}

// A ThreadGroup is the threads of one name. If Name is "", it is all threads of the kind that have no group of their
// own.
type ThreadGroup struct{ Kind, Name string }

// Counts are counts by part, in the order of the parts. Parts without samples are left out.
type Counts []Count

// A Count is the samples of one part.
type Count struct {
	Part   int // index in the list of parts
	Counts tally.Counts
}

// Sums sum up counts by key and part.
type Sums[K comparable] map[sumKey[K]]tally.Counts

type sumKey[K comparable] struct {
	key  K
	part int
}

// Add adds counts to the sum of a key.
func (s Sums[K]) Add(key K, counts Counts) {
	for _, c := range counts {
		k := sumKey[K]{key, c.Part}
		if s[k] == nil {
			s[k] = make(tally.Counts, len(c.Counts))
		}
		s[k].Add(c.Counts)
	}
}

// ByKey returns the sums of each key.
func (s Sums[K]) ByKey() map[K]Counts {
	out := map[K]Counts{}
	for k, c := range s {
		out[k.key] = append(out[k.key], Count{k.part, c})
	}
	for _, counts := range out {
		slices.SortFunc(counts, func(a, b Count) int { return cmp.Compare(a.Part, b.Part) })
	}
	return out
}
