package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/profile/tally"
)

// A comparison makes the counts by which the JVMs of a profile, or its slices of time, are compared. Once the profile
// has too many of these counts, a comparison returns nil instead.
type comparison struct {
	pids     []int // of the profile, ascending
	slices   int   // number of slices; 0 in a trial that is not cut
	counters int
	numbers  int // how many values the counts have so far
}

// maxCompared is the maximum number of values in a profile's counts by JVM and by slice. A profile of 10,000 functions
// in 100 forks, with 5 slices each, stays below it. A profile that would have more has only sums.
const maxCompared = 8 << 20

// perJVM returns a Counts for each JVM, or nil if there are too many numbers.
func (c *comparison) perJVM() []tally.Counts { return c.zeros(len(c.pids)) }

// perSlice returns a Counts for each slice. It returns nil for a trial that is not cut into slices, or if there are
// too many numbers.
func (c *comparison) perSlice() []tally.Counts {
	if c.slices == 0 {
		return nil
	}
	return c.zeros(c.slices)
}

func (c *comparison) zeros(n int) []tally.Counts {
	if c.numbers += n * c.counters; c.tooMuch() {
		return nil
	}
	return tally.Zeros(n, c.counters)
}

// tooMuch reports whether there are too many numbers, so that some counts are nil.
func (c *comparison) tooMuch() bool { return c.numbers > maxCompared }

// addJVM adds the counts of one process to those made by perJVM.
func (c *comparison) addJVM(to []tally.Counts, pid int, counts tally.Counts) {
	if to == nil {
		return
	}
	if i, ok := slices.BinarySearch(c.pids, pid); ok {
		to[i].Add(counts)
	}
}

// addSlices adds the counts of one JVM's slices, from its first slice on, to those made by perSlice.
func addSlices(to []tally.Counts, first int, over []tally.Counts) {
	if to == nil {
		return
	}
	for i, c := range over {
		to[first+i].Add(c)
	}
}

// dropCompared removes the counts by which JVMs and slices are compared from a profile. It is called if there would be
// too many of these counts, because then some of them are missing.
func (p *Profile) dropCompared() {
	p.Slices = nil
	for i := range p.Methods {
		p.Methods[i].PerJVM, p.Methods[i].Slices = nil, nil
	}
	for i := range p.Frames {
		p.Frames[i].PerJVM, p.Frames[i].Slices = nil, nil
	}
	for i := range p.Native {
		p.Native[i].PerJVM, p.Native[i].Slices = nil, nil
	}
}
