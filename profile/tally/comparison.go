package tally

import "slices"

// A Comparison allocates the counts that a profile has separately for each of its JVMs or for each of its time slices,
// so that these can be compared. When the profile would have more than maxCompared values in such counts, PerJVM and
// PerSlice return nil.
type Comparison struct {
	PIDs     []int // the process ids of the profile, ascending
	Slices   int   // number of slices; 0 in a trial that is not cut
	Counters int
	numbers  int // how many values have been allocated in counts so far
}

// maxCompared is the maximum number of values in a profile's counts by JVM and by slice. A profile of 10,000 functions
// in 100 forks, with 5 slices each, stays below it. A profile that would have more has only sums.
const maxCompared = 8 << 20

// PerJVM returns a Counts for each JVM, or nil if there are too many numbers.
func (c *Comparison) PerJVM() []Counts { return c.zeros(len(c.PIDs)) }

// PerSlice returns a Counts for each slice. It returns nil for a trial that is not cut into slices, or if there are
// too many numbers.
func (c *Comparison) PerSlice() []Counts {
	if c.Slices == 0 {
		return nil
	}
	return c.zeros(c.Slices)
}

func (c *Comparison) zeros(n int) []Counts {
	if c.numbers += n * c.Counters; c.TooMuch() {
		return nil
	}
	return Zeros(n, c.Counters)
}

// TooMuch reports whether the limit maxCompared was exceeded. Then some counts are nil.
func (c *Comparison) TooMuch() bool { return c.numbers > maxCompared }

// AddJVM adds the counts of one process to those made by PerJVM.
func (c *Comparison) AddJVM(to []Counts, pid int, counts Counts) {
	if to == nil {
		return
	}
	if i, ok := slices.BinarySearch(c.PIDs, pid); ok {
		to[i].Add(counts)
	}
}

// AddSlices adds the counts of one JVM to the counts that PerSlice made. over[i] has the counts in the JVM's slice i,
// and is added to to[first+i].
func AddSlices(to []Counts, first int, over []Counts) {
	if to == nil {
		return
	}
	for i, c := range over {
		to[first+i].Add(c)
	}
}
