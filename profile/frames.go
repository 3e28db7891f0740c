package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// frames adds up the instructions of compiled code by their innermost Java frame, and
// by all frames of their inlining chain.
func (w *work) frames(sampled []*sampledBlob, pids []int) []FrameTotal {
	sum := frameSums{w: w, pids: pids, methods: map[string]*frameSum{}, lines: map[methodLine]Counts{}}
	for _, s := range sampled {
		if !s.Kind.Java() {
			continue
		}
		for pc, c := range s.atPC {
			sum.add(w.chain(s, pc), s, c, s.overTime[pc])
		}
	}
	return sum.sorted()
}

// chain gives the inlining chain at a PC of compiled code, innermost first. An
// instruction without debug info is the method's own.
func (w *work) chain(s *sampledBlob, pc uint64) []printassembly.Frame {
	chain := w.wholeChain(s, pc)
	if w.b.jvms[s.jvm].SafepointsOnly {
		return withoutAgent(chain)
	}
	return chain
}

// agentClasses are those of gasm's agent that probed methods call.
const agentClasses = "java.lang.Gasm"

// withoutAgent leaves out the calls of gasm's agent, and what it calls, in which a chain ends. Where the debug info is that of the next safepoint, these
// are the next one of nearly all that a method with probes does in front of its end.
func withoutAgent(chain []printassembly.Frame) []printassembly.Frame {
	for i := len(chain) - 2; i >= 0; i-- {
		if strings.HasPrefix(chain[i].Method, agentClasses) {
			return chain[i+1:]
		}
	}
	return chain
}

func (w *work) wholeChain(s *sampledBlob, pc uint64) []printassembly.Frame {
	if info := w.debugInfo[s.blobRef]; info != nil {
		if frames := info.Frames(pc); len(frames) > 0 {
			return frames
		}
	} else if insts := w.listing(s.blobRef); find(insts, pc) >= 0 && len(insts[find(insts, pc)].Frames) > 0 {
		return insts[find(insts, pc)].Frames
	}
	return []printassembly.Frame{{Method: s.Name}}
}

// frameSums are the sums of frames so far.
type frameSums struct {
	w       *work
	pids    []int
	methods map[string]*frameSum
	lines   map[methodLine]Counts
	chains  int // how many were added
}

// A frameSum is what a method has so far.
type frameSum struct {
	FrameTotal
	chain int // the last chain that it was in
}

type methodLine struct {
	method string
	line   int
}

// add counts samples of a blob at an instruction with an inlining chain.
func (f *frameSums) add(chain []printassembly.Frame, s *sampledBlob, c Counts, over []Counts) {
	f.chains++
	inner := chain[0]
	m := f.method(inner.Method)
	m.Counts.Add(c)
	addSlices(m.Slices, s.firstSlice, over)
	addOf(m.PerJVM, f.pids, s.pid, c)
	addTo(f.w, f.lines, methodLine{inner.Method, inner.Line}, c)
	for _, frame := range chain {
		if m := f.method(frame.Method); m.chain != f.chains { // not in the chain before
			m.chain = f.chains
			m.Total.Add(c)
		}
	}
}

// method gives the sums of a method, which are zero at first.
func (f *frameSums) method(name string) *frameSum {
	m := f.methods[name]
	if m == nil {
		m = &frameSum{FrameTotal: FrameTotal{Method: name, Counts: make(Counts, f.w.n), Total: make(Counts, f.w.n), Slices: f.w.newSlices(), PerJVM: f.w.zeros(len(f.pids))}}
		f.methods[name] = m
	}
	return m
}

// sorted gives the methods, those with the most samples of their own first.
func (f *frameSums) sorted() []FrameTotal {
	frames := make([]FrameTotal, 0, len(f.methods))
	for key, c := range f.lines {
		m := f.methods[key.method]
		m.Lines = append(m.Lines, LineTotal{key.line, c})
	}
	for _, m := range f.methods {
		slices.SortFunc(m.Lines, func(a, b LineTotal) int {
			return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Line, b.Line))
		})
		frames = append(frames, m.FrameTotal)
	}
	slices.SortFunc(frames, func(a, b FrameTotal) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), compareCounts(a.Total, b.Total), cmp.Compare(a.Method, b.Method))
	})
	return frames
}
