package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// frames sums up the samples in compiled code: by the innermost Java frame, and by all frames of the inlining chain.
func (w *work) frames() []FrameTotal {
	sum := frameSums{compare: &w.compare, methods: map[string]*frameSum{}, lines: map[MethodLine]tally.Counts{},
		guessed: map[MethodLine]tally.Counts{}}
	for _, s := range w.sampled {
		if !s.Kind.Java() {
			continue
		}
		for pc, c := range s.atPC {
			sum.add(w.code.Chain(s.Ref, pc), s, c, s.overTime[pc])
		}
	}
	return sum.sorted()
}

// frameSums are the sums of all frames so far.
type frameSums struct {
	compare *tally.Comparison
	methods map[string]*frameSum
	lines   map[MethodLine]tally.Counts
	guessed map[MethodLine]tally.Counts // samples whose line is a guess
	chains  int                         // number of chains that were added
}

// A frameSum is the sum of one method so far.
type frameSum struct {
	FrameTotal
	chain int // number of the last chain that the method was in
}

// add counts the samples at one instruction of the blob s. The parameter chain is the instruction's inlining chain. c
// counts all of the samples, and over[i] counts the samples in the time slice i.
func (f *frameSums) add(chain []printassembly.Frame, s *sampledBlob, c tally.Counts, over []tally.Counts) {
	f.chains++
	inner := chain[0]
	m := f.method(inner.Method)
	m.Counts.Add(c)
	tally.AddSlices(m.Slices, s.firstSlice, over)
	f.compare.AddJVM(m.PerJVM, s.pid, c)
	line := MethodLine{inner.Method, inner.Line}
	tally.AddTo(f.lines, line, c, f.compare.Counters)
	if inner.Guess != printassembly.Certain {
		tally.AddTo(f.guessed, line, c, f.compare.Counters)
	}
	if inner.Guess == printassembly.GuessedAll {
		if m.Guessed == nil {
			m.Guessed = make(tally.Counts, f.compare.Counters)
		}
		m.Guessed.Add(c)
	}
	for _, frame := range chain {
		if m := f.method(frame.Method); m.chain != f.chains { // the first frame of the method in this chain
			m.chain = f.chains
			m.Total.Add(c)
		}
	}
}

// method returns the sum of a method, which is zero at first.
func (f *frameSums) method(name string) *frameSum {
	m := f.methods[name]
	if m == nil {
		n := f.compare.Counters
		m = &frameSum{FrameTotal: FrameTotal{Method: name, Counts: make(tally.Counts, n), Total: make(tally.Counts, n),
			Slices: f.compare.PerSlice(), PerJVM: f.compare.PerJVM()}}
		f.methods[name] = m
	}
	return m
}

// sorted returns the methods, those with the most samples of their own first.
func (f *frameSums) sorted() []FrameTotal {
	frames := make([]FrameTotal, 0, len(f.methods))
	for key, c := range f.lines {
		m := f.methods[key.Method]
		m.Lines = append(m.Lines, LineTotal{key.Line, c, f.guessed[key]})
	}
	for _, m := range f.methods {
		slices.SortFunc(m.Lines, func(a, b LineTotal) int {
			return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Line, b.Line))
		})
		frames = append(frames, m.FrameTotal)
	}
	slices.SortFunc(frames, func(a, b FrameTotal) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), tally.Compare(a.Total, b.Total), cmp.Compare(a.Method, b.Method))
	})
	return frames
}
