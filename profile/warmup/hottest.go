package warmup

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/profile/tally"
)

const (
	compiledMethods = 8   // the maximum number of methods that Hottest returns
	leastCompiled   = 100 // each of these methods has at least 1/leastCompiled of the profile's samples
)

// A Sampled has the samples of a method in one of its compilations. JVM is the number of the JVM.
type Sampled struct {
	Method string
	JVM    int
	Counts tally.Counts
}

// Hottest returns the methods that have the most samples in all tiers and JVMs, hottest first, each with the JVM that
// has the most samples of the method. The function share returns the share of the profile's samples that its argument
// makes up.
func Hottest(all []Sampled, share func(tally.Counts) float64, counters int) []Sampled {
	type inJVM struct {
		method string
		jvm    int
	}
	sums, in := map[string]tally.Counts{}, map[inJVM]tally.Counts{}
	most := map[string]tally.Counts{} // the method's samples in the JVM that has most of them
	jvms := map[string]int{}
	for i := range all {
		s := &all[i]
		tally.AddTo(sums, s.Method, s.Counts, counters)
		of := inJVM{s.Method, s.JVM}
		tally.AddTo(in, of, s.Counts, counters)
		if most[s.Method] == nil || slices.Compare(in[of], most[s.Method]) > 0 {
			jvms[s.Method], most[s.Method] = s.JVM, in[of]
		}
	}
	var hottest []Sampled
	for method, c := range sums {
		hottest = append(hottest, Sampled{method, jvms[method], c})
	}
	slices.SortFunc(hottest, func(a, b Sampled) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Method, b.Method))
	})
	hottest = hottest[:min(len(hottest), compiledMethods)]
	return slices.DeleteFunc(hottest, func(s Sampled) bool { return share(s.Counts) < 1.0/leastCompiled })
}
