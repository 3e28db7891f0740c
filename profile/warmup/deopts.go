package warmup

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gasm-profiler/gasm/event"
)

// A Deopt is a place at which execution went from compiled code to the interpreter (a deoptimization), and says what
// happened to the code.
type Deopt struct {
	Method string // the method at the place, which may have been inlined
	BCI    int    // bci of the deoptimized bytecode; -1 if it is unknown
	Line   int    // 0 if it is unknown
	// Instruction is the bytecode: "if_icmpgt". Reason and Action are HotSpot's: "unstable_if", "reinterpret".
	Instruction, Reason, Action string
	// Of are the compiled methods that contained the place, the most frequent first, at most [mostOf]. It is nil if
	// none is known.
	Of     []string
	Count  int
	Inside int // number of deoptimizations within a window
	// FirstMonoNanos and LastMonoNanos are the times of the first and the last deoptimization.
	FirstMonoNanos, LastMonoNanos int64
	// Levels are the levels of the code that was left, ascending.
	Levels []int
	// After says at which levels the compiled methods were compiled next, the lowest level first.
	After []After
	// Never is the number of deoptimizations after which the method was not compiled again at the level of the code
	// that was left. Then either the code stayed in use, or the method was not hot enough.
	Never int
	// Unknown is the number of deoptimizations in code whose compilation is not known. For these, it is not known
	// either what was compiled next.
	Unknown int
}

// mostOf is the maximum number of compiled methods that a Deopt names.
const mostOf = 3

// An After counts the deoptimizations of a method after which it was compiled at a certain level, and says how long
// that took.
type After struct {
	Level, Count                             int
	ShortestNanos, MedianNanos, LongestNanos int64
}

// A place is the key by which deoptimizations are counted.
type place struct {
	method                      string
	bci, line                   int
	instruction, reason, action string
}

func placeOf(e *event.Event) place {
	at := place{method: e.Name, bci: -1, line: number(e, "lineNumber"), instruction: e.Arg("instruction"),
		reason: e.Arg("reason"), action: e.Arg("action")}
	if e.Arg("bci") != "" {
		at.bci = number(e, "bci")
	}
	return at
}

func (d *Deopt) place() place {
	return place{d.Method, d.BCI, d.Line, d.Instruction, d.Reason, d.Action}
}

// A compiledMethod is a method of one JVM.
type compiledMethod struct {
	pid              int
	method, overload string
}

// places sums up the deoptimizations by place. It returns the [Most] places with the most deoptimizations, and the
// number of all places.
func (c *collector) places() (first []Deopt, number int) {
	later := map[compiledMethod][]Compilation{}
	for _, n := range c.compilations {
		key := compiledMethod{n.PID, n.Method, n.Overload}
		later[key] = append(later[key], n)
	}
	for _, list := range later {
		slices.SortStableFunc(list, func(a, b Compilation) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	}
	waits := map[place]map[int][]int64{} // by level
	of := map[place]map[string]int{}
	for _, d := range c.deoptimizations {
		key := placeOf(d.Event)
		at := c.deopts[key]
		if at == nil {
			at = &Deopt{Method: key.method, BCI: key.bci, Line: key.line, Instruction: key.instruction, Reason: key.reason,
				Action:         key.action,
				FirstMonoNanos: d.MonoNanos, LastMonoNanos: d.MonoNanos}
			c.deopts[key], waits[key], of[key] = at, map[int][]int64{}, map[string]int{}
		}
		at.Count++
		at.FirstMonoNanos, at.LastMonoNanos = min(at.FirstMonoNanos, d.MonoNanos), max(at.LastMonoNanos, d.MonoNanos)
		left := c.left(d.Event)
		if left == nil {
			at.Unknown++
			continue
		}
		of[key][left.Method]++
		if !slices.Contains(at.Levels, left.Level) {
			at.Levels = append(at.Levels, left.Level)
			slices.Sort(at.Levels)
		}
		if !follow(later[compiledMethod{d.PID, left.Method, left.Overload}], d.MonoNanos, left, waits[key]) {
			at.Never++
		}
	}
	for key, at := range c.deopts {
		at.After, at.Of = after(waits[key]), mostFrequent(of[key])
		first = append(first, *at)
	}
	slices.SortFunc(first, func(a, b Deopt) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.FirstMonoNanos, b.FirstMonoNanos),
			cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.BCI, b.BCI), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Action, b.Action),
			cmp.Compare(a.Instruction, b.Instruction))
	})
	return slices.Clone(first[:min(len(first), Most)]), len(first)
}

// left returns the compilation whose code a deoptimization has left, or nil if it is unknown. JDK 8, which numbers
// on-stack replacements separately, records no deoptimizations.
func (c *collector) left(e *event.Event) *Compilation {
	id := number(e, "compileId")
	for _, osr := range []bool{false, true} {
		if i, ok := c.found[codeKey{e.PID, id, osr}]; ok && id > 0 {
			return &c.compilations[i]
		}
	}
	return nil
}

// maxFollowing limits how many of a method's compilations after a deoptimization the function follow examines.
const maxFollowing = 100

// follow adds to waits, for each level, the time from a deoptimization (the parameter mono) to the start of the
// method's first compilation at that level. list has the compilations of the method in the order of time. follow stops
// at the first compilation at the level of the code that was left, or at a higher one, and reports whether there was
// one.
func follow(list []Compilation, mono int64, left *Compilation, waits map[int][]int64) bool {
	from := sort.Search(len(list), func(i int) bool { return list[i].MonoNanos > mono })
	seen := 0 // has a bit for each level that was found
	for i := range list[from:min(from+maxFollowing, len(list))] {
		n := &list[from+i]
		if n.OSR != left.OSR || n.Level < 0 || n.Failed || seen>>n.Level&1 != 0 {
			continue
		}
		seen |= 1 << n.Level
		waits[n.Level] = append(waits[n.Level], n.MonoNanos-mono)
		if n.Level >= left.Level {
			return true
		}
	}
	return false
}

// after sums up waits by level.
func after(waits map[int][]int64) (list []After) {
	for level, w := range waits {
		slices.Sort(w)
		list = append(list, After{level, len(w), w[0], w[len(w)/2], w[len(w)-1]})
	}
	slices.SortFunc(list, func(a, b After) int { return cmp.Compare(a.Level, b.Level) })
	return list
}

// mostFrequent returns the names with the highest counts.
func mostFrequent(counts map[string]int) []string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), mostOf)]
}
