package warmup

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// An InterpretedMethod has the samples that were taken in the interpreter while it executed a method.
type InterpretedMethod struct {
	Method string
	Counts tally.Counts
	Lines  []InterpretedLine // hottest first
}

// An InterpretedLine has the samples of one line of source. Line is 0 if it is unknown.
type InterpretedLine struct {
	Line   int
	Counts tally.Counts
}

// InterpretedCounts counts the samples in the interpreter by method and line.
type InterpretedCounts map[methodLine]tally.Counts

// A methodLine is a line of a method.
type methodLine struct {
	method string
	line   int
}

// Add counts samples whose innermost frame is f, if that is an interpreted method with a name.
func (m InterpretedCounts) Add(f *callstack.Frame, c tally.Counts) {
	if f.Kind == callstack.Interpreted && f.Name != "" {
		tally.AddTo(m, methodLine{f.Name, max(f.Line, 0)}, c, len(c))
	}
}

// Methods sums up the samples by method.
func (m InterpretedCounts) Methods() []InterpretedMethod {
	var list []InterpretedMethod
	index := map[string]int{}
	for at, c := range m {
		i, ok := index[at.method]
		if !ok {
			i = len(list)
			index[at.method] = i
			list = append(list, InterpretedMethod{Method: at.method, Counts: make(tally.Counts, len(c))})
		}
		list[i].Counts.Add(c)
		list[i].Lines = append(list[i].Lines, InterpretedLine{Line: at.line, Counts: c})
	}
	for i := range list {
		slices.SortFunc(list[i].Lines, func(a, b InterpretedLine) int {
			return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Line, b.Line))
		})
	}
	slices.SortFunc(list, func(a, b InterpretedMethod) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Method, b.Method))
	})
	return list
}
