package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// leastOfThreshold sets the share of the profile that a region needs to be annotated although it is not hot. The share
// is the hot threshold divided by leastOfThreshold. With the default threshold of 10 %, that is half a percent of the
// profile.
const leastOfThreshold = 20

// A methodHeat sums up the regions of one method.
type methodHeat struct {
	counts  tally.Counts
	hottest int  // index of the method's hottest region in the cuts
	hot     bool // true if one of its regions is hot
}

// chooseHot marks the regions that are to be annotated. These are all regions above the hot threshold. If they are
// fewer than Options.Regions, chooseHot adds the hottest region of each of the hottest methods, because in many
// programs the samples are so spread out that no region is hot. It sets TooFew to the number of regions that were left
// out only because they have too few samples. The cuts must be sorted, hottest first.
func (r *regionCutter) chooseHot(cuts []regionCut) {
	if r.opts.SkipLines || len(cuts) == 0 {
		return
	}
	shown := 0
	for i := range cuts {
		c := &cuts[i]
		if c.Hot = r.p.IsHot(c.Counts); c.Hot {
			shown++
		}
	}
	hasCode := func(c regionCut) bool { return c.from.HasCode }
	anyCode := slices.ContainsFunc(cuts, hasCode) // if no code was printed, regions with only a name may be annotated
	var few []int                                 // cuts that are left out because they have too few samples
	for _, m := range r.methodHeats(cuts) {
		c := &cuts[m.hottest]
		// Nobody can do anything about a codelet of the interpreter, and unprinted code has nothing to show.
		useful := c.from.Kind != printassembly.Interpreter && c.from.Kind != printassembly.Unprinted && (hasCode(*c) || !anyCode)
		warm := r.p.Share(c.Counts) >= r.p.HotThreshold/leastOfThreshold && useful
		if shown+len(few) >= r.opts.Regions || m.hot || !warm {
			continue
		}
		if slices.Max(c.Counts) < int64(r.opts.MinSamples) {
			few = append(few, m.hottest)
			continue
		}
		c.Hot = true
		shown++
	}
	if shown == 0 { // a report always has some code
		first := r.fallback(cuts)
		cuts[first].Hot = true
		few = slices.DeleteFunc(few, func(i int) bool { return i == first })
	}
	r.p.TooFew = len(few)
}

// methodHeats sums up the regions by method, hottest method first.
func (r *regionCutter) methodHeats(cuts []regionCut) []*methodHeat {
	type key struct{ source, name string }
	of := map[key]*methodHeat{}
	var methods []*methodHeat
	for i := range cuts {
		c := &cuts[i]
		k := key{c.Source, c.Method}
		m := of[k]
		if m == nil {
			m = &methodHeat{make(tally.Counts, r.counters), i, false}
			of[k] = m
			methods = append(methods, m)
		}
		m.counts.Add(c.Counts)
		m.hot = m.hot || c.Hot
	}
	slices.SortStableFunc(methods, func(a, b *methodHeat) int { return tally.Compare(a.counts, b.counts) })
	return methods
}

// fallback returns the index of the region that is annotated if no region is hot or warm. If Options.Regions is 1 or
// less, this is the hottest region. Otherwise it is the hottest region of a compiled method whose code the log has. If
// there is no such region, it is the hottest one of any compiled method or, failing that, of all code.
func (r *regionCutter) fallback(cuts []regionCut) int {
	if r.opts.Regions <= 1 {
		return 0
	}
	compiled := func(c regionCut) bool { return c.from.Kind.Java() }
	withCode := func(c regionCut) bool { return compiled(c) && c.from.HasCode }
	if i := slices.IndexFunc(cuts, withCode); i >= 0 {
		return i
	}
	return max(slices.IndexFunc(cuts, compiled), 0)
}
