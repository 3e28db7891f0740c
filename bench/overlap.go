package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// A stackSample is a sample's stack.
type stackSample struct {
	methods []string // the Java methods, from the outermost to the innermost one; there is at least one
	// inlined is the number of innermost methods that were inlined at the sampled instruction. It is 0 if that
	// instruction is not in a Java method.
	inlined int
	broken  bool // async-profiler has not found all callers
}

// sampled returns the innermost method that was not inlined. The sample was taken in it, or in other code that it has
// called.
func (s stackSample) sampled() string { return s.methods[len(s.methods)-1-s.inlined] }

// walkable removes the samples of methods in which async-profiler often fails to find the callers: in more than 1 % of
// its own samples of the method. In such methods, the two profilers can't be compared. The parameter a has gasm's
// samples, and b has async-profiler's.
func walkable(a, b []stackSample) (x, y []stackSample) {
	all, broken := map[string]int{}, map[string]int{}
	for _, s := range b {
		all[s.sampled()]++
		if s.broken {
			broken[s.sampled()]++
		}
	}
	bad := func(s stackSample) bool { return 100*broken[s.sampled()] > all[s.sampled()] }
	return slices.DeleteFunc(slices.Clone(a), bad), slices.DeleteFunc(slices.Clone(b), bad)
}

// shares are parts of all samples, from 0 to 1, by stack or by method.
type shares map[string]float64

// overlap returns how much two distributions have in common, from 0 to 1: 2 Σ min(a, b) / Σ (a + b). If both sum up to
// 1, this is Σ min(a, b).
func overlap(a, b shares) float64 {
	common, sum := 0.0, 0.0
	for key, x := range a {
		common += min(x, b[key])
		sum += x
	}
	for _, x := range b {
		sum += x
	}
	return 2 * common / sum
}

// A view is a way to compare two profiles. It compares how often some keys occur in the samples of each profile. A key
// is, for example, a whole stack or the name of a method. The function keys returns the keys in a sample.
type view struct {
	name string
	keys func(stackSample) []string
}

var callersView = view{"compiled methods and callers", func(s stackSample) []string {
	return []string{strings.Join(s.methods[:len(s.methods)-s.inlined], ";")}
}}

// views are the ways in which profiles are compared. The least certain part of a stack is which methods are inlined at
// the sampled instruction, because HotSpot describes only some instructions. The second view leaves these methods out.
var views = []view{
	{"whole stacks", func(s stackSample) []string { return []string{strings.Join(s.methods, ";")} }},
	callersView,
	{"12 outermost methods", func(s stackSample) []string {
		return []string{strings.Join(s.methods[:min(12, len(s.methods))], ";")}
	}},
	{"methods' totals", func(s stackSample) []string { return slices.Compact(slices.Sorted(slices.Values(s.methods))) }},
	{"methods' own", func(s stackSample) []string { return s.methods[len(s.methods)-1:] }},
}

// keysOf returns the keys of each sample.
func (v view) keysOf(samples []stackSample) [][]string {
	all := make([][]string, len(samples))
	for i, s := range samples {
		all[i] = v.keys(s)
	}
	return all
}

// sharesOf returns, for each key, the share of the samples that have it. samples has the keys of each sample.
func sharesOf(samples [][]string) shares {
	all := shares{}
	for _, keys := range samples {
		for _, key := range keys {
			all[key] += 1 / float64(len(samples))
		}
	}
	return all
}

// An agreement has the overlap of two profilers' samples. To show how much chance alone makes samples differ, it also
// has the overlap of two halves of each profiler's own samples. All three compare two sets of the same size.
type agreement struct{ both, halvesA, halvesB float64 }

// agree compares two profilers' samples of the same run. It shuffles and compares them several times, and returns the
// means of the overlaps.
func (v view) agree(a, b []stackSample, random *rand.Rand) agreement {
	const turns = 8
	n := min(len(a), len(b)) / 2
	if n == 0 {
		return agreement{}
	}
	x, y := v.keysOf(a), v.keysOf(b)
	var sum agreement
	for range turns {
		random.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		random.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
		x1, x2, y1, y2 := sharesOf(x[:n]), sharesOf(x[n:2*n]), sharesOf(y[:n]), sharesOf(y[n:2*n])
		sum.both += overlap(x1, y1) / turns
		sum.halvesA += overlap(x1, x2) / turns
		sum.halvesB += overlap(y1, y2) / turns
	}
	return sum
}

// writeDifferences writes the keys whose shares differ most, so that somebody can look for the reasons.
func (v view) writeDifferences(w io.Writer, a, b []stackSample, most int) {
	x, y := sharesOf(v.keysOf(a)), sharesOf(v.keysOf(b))
	keys := slices.Collect(maps.Keys(x))
	for key := range y {
		if _, ok := x[key]; !ok {
			keys = append(keys, key)
		}
	}
	difference := func(key string) float64 { return max(x[key]-y[key], y[key]-x[key]) }
	slices.SortFunc(keys, func(k, l string) int {
		switch d, e := difference(k), difference(l); {
		case d > e:
			return -1
		case d < e:
			return 1
		}
		return strings.Compare(k, l)
	})
	fmt.Fprintf(w, "%s: gasm, async-profiler\n", v.name)
	for _, key := range keys[:min(most, len(keys))] {
		fmt.Fprintf(w, "%6.2f%% %6.2f%%  %s\n", 100*x[key], 100*y[key], key)
	}
}

// unique matches what makes the name of a hidden class unique. HotSpot, gasm and async-profiler write it differently.
var unique = regexp.MustCompile(`(\$\$Lambda|LambdaForm\$[A-Z]+|\$\$InjectedInvoker|\$\$FastClass)?(\$\d+)?[/+.]0x[0-9a-f]+(\.\d+)?|(\$\$Lambda)\$\d+`)

// normalName returns the name of a Java method in the form in which names are compared: "org.acme.Users.find".
func normalName(name string) string {
	name = strings.ReplaceAll(strings.ReplaceAll(name, "::", "."), "/0x", "+0x")
	name, _, _ = strings.Cut(name, "(") // MethodHandle::invokeBasic(L)L, as HotSpot names its native wrapper
	return unique.ReplaceAllString(strings.ReplaceAll(name, "/", "."), "$1$4")
}
