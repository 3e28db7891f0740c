// Package parts cuts the samples of a profile by time and by thread, so that a reader can look at only some of the
// samples. For example, these may be the samples of one fork, of the beginning of a run, or of one pool of threads.
//
// A [Cutter] needs all samples at once. Only then does it know how much time the slices have to cover, and which
// threads are hot enough to get a group of their own. It cuts as finely as the limits for the number of parts permit. A
// Cutter knows nothing about code. For a Cutter, a place in the code where samples were taken is just a number, which
// is called a spot. [Sums] adds up the counts of many spots by part.
package parts

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Part is the samples of one thread group in one slice of time.
type Part struct{ Slice, Thread int } // indexes in the lists of slices and of threads

// A TimeSlice is a slice of the time of one JVM. If there are too many JVMs for separate slices, all of them share one
// slice, which has the PID of the first.
type TimeSlice struct {
	PID int
	capture.Span
}

// A ThreadGroup is a group of threads with the same name. If Name is "", the group has all threads of the kind whose
// names have no group of their own.
type ThreadGroup struct{ Kind, Name string }

// Counts has a Count for each part that has samples, in the order of the parts.
type Counts []Count

// A Count has the number of samples of each event in one part.
type Count struct {
	Part   int // index in the list of parts
	Counts tally.Counts
}

// Bump returns the counts with one more sample of a counter in a part. counters is the number of counters.
func (c Counts) Bump(part, counter, counters int) Counts {
	at, ok := slices.BinarySearchFunc(c, part, func(n Count, part int) int { return cmp.Compare(n.Part, part) })
	if !ok {
		c = slices.Insert(c, at, Count{part, make(tally.Counts, counters)})
	}
	c[at].Counts[counter]++
	return c
}

// Sums adds up counts by key and part.
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
