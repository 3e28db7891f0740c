// Package parts cuts the samples of a profile by time and by thread. A reader can then look at some of the samples
// alone, for example at one fork, at the beginning of a run, or at one pool of threads.
//
// A [Cutter] needs the list of all samples, because the time that the slices have to cover, and the threads that are
// hot enough to have a group of their own, are known only at the end. It cuts as finely as the limits for the number of
// parts permit. The place in the code at which a sample was taken is only a number for it, called the spot. [Sums] adds
// up the counts of many spots by part.
package parts

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Part is the samples of one thread group in one slice of time.
type Part struct{ Slice, Thread int } // indexes in the lists of slices and of threads

// A TimeSlice is a slice of the time of one JVM. If there are too many JVMs to tell them apart, there is one slice for
// all of them, with the PID of the first.
type TimeSlice struct {
	PID int
	capture.Span
}

// A ThreadGroup is all threads with the same name. If Name is "", it is all threads of the kind that have no group by
// their name.
type ThreadGroup struct{ Kind, Name string }

// Counts has the numbers of samples by part, in the order of the parts. It has no elements for parts without samples.
type Counts []Count

// A Count has the numbers of samples in one part.
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

// ByKey returns the sums of each key, in the order of the parts.
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
