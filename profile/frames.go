package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// frames adds up the instructions of compiled code by their innermost Java
// frame, and by all of them.
func (w *work) frames(sampled []*sampledBlob) []FrameTotal {
	sum := frameSums{w: w, methods: map[string]*FrameTotal{}, lines: map[string]map[int]Counts{}}
	for _, s := range sampled {
		if !s.Kind.Java() {
			continue
		}
		for pc, c := range s.at {
			sum.add(w.chain(s, pc), c, s.slices[pc])
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

// frameSums are frames on their way.
type frameSums struct {
	w       *work
	methods map[string]*FrameTotal
	lines   map[string]map[int]Counts
}

func (f *frameSums) add(chain []printassembly.Frame, c Counts, over []Counts) {
	inner := chain[0]
	m := f.method(inner.Method)
	m.Counts.Add(c)
	addAll(m.Slices, over)
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

func (f *frameSums) method(name string) *FrameTotal {
	m := f.methods[name]
	if m == nil {
		m = &FrameTotal{Method: name, Counts: make(Counts, f.w.n), Total: make(Counts, f.w.n), Slices: f.w.sliced()}
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
