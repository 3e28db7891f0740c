package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// frames adds up the instructions of compiled code by their innermost Java frame, and
// by all frames of their inlining chain.
func (w *work) frames(sampled []*sampledBlob, pids []int) []FrameTotal {
	sum := frameSums{w: w, pids: pids, methods: map[string]*FrameTotal{}, lines: map[string]map[int]Counts{}}
	for _, s := range sampled {
		if !s.Kind.Java() {
			continue
		}
		for pc, c := range s.atPC {
			sum.add(w.chain(s, pc), s.pid, c, s.overTime[pc])
		}
	}
	return sum.sorted()
}

// chain gives the inlining chain at a PC of compiled code, innermost first. An
// instruction without debug info is the method's own.
func (w *work) chain(s *sampledBlob, pc uint64) []printassembly.Frame {
	insts := w.listing(s.blobRef)
	if i := find(insts, pc); i >= 0 && len(insts[i].Frames) > 0 {
		return insts[i].Frames
	}
	return []printassembly.Frame{{Method: s.Name}}
}

// frameSums are the sums of frames so far.
type frameSums struct {
	w       *work
	pids    []int
	methods map[string]*FrameTotal
	lines   map[string]map[int]Counts
}

// add counts samples of a JVM at an instruction with an inlining chain.
func (f *frameSums) add(chain []printassembly.Frame, pid int, c Counts, over []Counts) {
	inner := chain[0]
	m := f.method(inner.Method)
	m.Counts.Add(c)
	addAll(m.Slices, over)
	addOf(m.PerJVM, f.pids, pid, c)
	at := f.lines[inner.Method]
	if at == nil {
		at = map[int]Counts{}
		f.lines[inner.Method] = at
	}
	if at[inner.Line] == nil {
		at[inner.Line] = make(Counts, f.w.n)
	}
	at[inner.Line].Add(c)
	for i, frame := range chain {
		again := func(before printassembly.Frame) bool { return before.Method == frame.Method }
		if !slices.ContainsFunc(chain[:i], again) {
			f.method(frame.Method).Total.Add(c)
		}
	}
}

// method gives the sums of a method, which are zero at first.
func (f *frameSums) method(name string) *FrameTotal {
	m := f.methods[name]
	if m == nil {
		m = &FrameTotal{Method: name, Counts: make(Counts, f.w.n), Total: make(Counts, f.w.n), Slices: f.w.newSlices(), PerJVM: f.w.zeros(len(f.pids))}
		f.methods[name] = m
	}
	return m
}

// sorted gives the methods, those with the most samples of their own first.
func (f *frameSums) sorted() []FrameTotal {
	frames := make([]FrameTotal, 0, len(f.methods))
	for name, m := range f.methods {
		for line, c := range f.lines[name] {
			m.Lines = append(m.Lines, LineTotal{line, c})
		}
		slices.SortFunc(m.Lines, func(a, b LineTotal) int {
			return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Line, b.Line))
		})
		frames = append(frames, *m)
	}
	slices.SortFunc(frames, func(a, b FrameTotal) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), compareCounts(a.Total, b.Total), cmp.Compare(a.Method, b.Method))
	})
	return frames
}
