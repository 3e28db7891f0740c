// Package annotated chooses the regions of code that a report annotates.
package annotated

import (
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// leastOfThreshold sets the share of the profile that a region needs to be annotated although it is not hot. The share
// is the hot threshold divided by leastOfThreshold. With the default threshold of 10 %, that is half a percent of the
// profile.
const leastOfThreshold = 20

// A Region is a region of code that may be annotated.
type Region struct {
	Source, Method string // the same for all regions of one method
	Kind           printassembly.Kind
	HasCode        bool // false if only the name of the code is known
	Counts         tally.Counts
}

// A Rule says which regions are annotated.
type Rule struct {
	Threshold  float64 // the share of the profile that makes a region hot
	Least      int     // number of regions that are annotated if that many have enough samples
	MinSamples int     // number of samples that a region needs to be annotated although it is not hot
	// Share returns the share of the profile's samples that its argument makes up, from 0 to 1.
	Share func(tally.Counts) float64
}

// A method sums up the regions of one method.
type method struct {
	counts  tally.Counts
	hottest int  // index of the method's hottest region
	hot     bool // true if one of its regions is hot
}

// Choose returns for each region whether it is annotated. The regions must be sorted, hottest first. Choose annotates
// the regions above the threshold. For each native function that is above it as a whole, it annotates the hottest
// region, because the samples of a large function are spread out. If that makes fewer than Least regions, Choose adds
// the hottest region of each of the hottest methods. tooFew is the number of regions that were left out only because
// they have too few samples.
func (r *Rule) Choose(regions []Region) (chosen []bool, tooFew int) {
	chosen = make([]bool, len(regions))
	if len(regions) == 0 {
		return chosen, 0
	}
	shown := 0
	take := func(i int) {
		chosen[i] = true
		shown++
	}
	for i := range regions {
		if r.Share(regions[i].Counts) >= r.Threshold {
			take(i)
		}
	}
	methods := methodsOf(regions, chosen)
	for _, m := range methods {
		if at := &regions[m.hottest]; at.Kind == printassembly.Library && at.HasCode && !m.hot &&
			r.Share(m.counts) >= r.Threshold {
			m.hot = true
			take(m.hottest)
		}
	}
	// if no code was printed, regions with only a name may be annotated
	anyCode := slices.ContainsFunc(regions, func(at Region) bool { return at.HasCode })
	// regions that are left out because they have too few samples
	var few []int
	for _, m := range methods {
		at := &regions[m.hottest]
		// Users can't change a codelet of the interpreter, and unprinted code has nothing to show.
		useful := at.Kind != printassembly.Interpreter && at.Kind != printassembly.Unprinted && (at.HasCode || !anyCode)
		warm := r.Share(at.Counts) >= r.Threshold/leastOfThreshold && useful
		if shown+len(few) >= r.Least || m.hot || !warm {
			continue
		}
		if slices.Max(at.Counts) < int64(r.MinSamples) {
			few = append(few, m.hottest)
			continue
		}
		take(m.hottest)
	}
	if shown == 0 { // because a report always has some code
		first := r.fallback(regions)
		take(first)
		few = slices.DeleteFunc(few, func(i int) bool { return i == first })
	}
	return chosen, len(few)
}

// methodsOf sums up the regions by method, hottest method first.
func methodsOf(regions []Region, hot []bool) []*method {
	type key struct{ source, name string }
	of := map[key]*method{}
	var methods []*method
	for i := range regions {
		at := &regions[i]
		k := key{at.Source, at.Method}
		m := of[k]
		if m == nil {
			m = &method{make(tally.Counts, len(at.Counts)), i, false}
			of[k] = m
			methods = append(methods, m)
		}
		m.counts.Add(at.Counts)
		m.hot = m.hot || hot[i]
	}
	slices.SortStableFunc(methods, func(a, b *method) int { return tally.Compare(a.counts, b.counts) })
	return methods
}

// fallback returns the index of the region that is annotated if no region is hot or warm. If Least is 1 or less, this
// is the hottest region. Otherwise it is the hottest region of a compiled method whose code the log has. If there is no
// such region, it is the hottest one of any compiled method or, failing that, of all code.
func (r *Rule) fallback(regions []Region) int {
	if r.Least <= 1 {
		return 0
	}
	compiled := func(at Region) bool { return at.Kind.Java() }
	withCode := func(at Region) bool { return compiled(at) && at.HasCode }
	if i := slices.IndexFunc(regions, withCode); i >= 0 {
		return i
	}
	return max(slices.IndexFunc(regions, compiled), 0)
}
