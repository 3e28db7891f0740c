package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

const kernelModule = sampler.KernelModule

// skipped tells the kinds that the user does not want to see.
func (w *work) skipped(k printassembly.Kind) bool {
	return w.opts.SkipInterpreter && k == printassembly.Interpreter || w.opts.SkipStubs && k.IsStub()
}

// methods adds up blobs by source and name, over recompilations and forks.
func (w *work) methods(sampled []*sampledBlob) []Method {
	type key struct{ source, name string }
	index := map[key]int{}
	var methods []Method
	for _, s := range sampled { // hottest first, so the first one's id stays
		if w.skipped(s.Kind) {
			continue
		}
		k := key{s.Source(), s.Name}
		i, ok := index[k]
		if !ok {
			i = len(methods)
			index[k] = i
			methods = append(methods, Method{Source: k.source, Name: k.name, CompileID: s.ID, Counts: make(Counts, w.n)})
		}
		methods[i].Blobs++
		methods[i].Counts.Add(s.counts)
	}
	slices.SortStableFunc(methods, func(a, b Method) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
	})
	return methods
}

// frames adds up the instructions of compiled code by their innermost Java
// frame. An instruction without debug info counts for the method itself.
func (w *work) frames(sampled []*sampledBlob) []FrameTotal {
	type lineKey struct {
		method string
		line   int
	}
	lines := map[lineKey]Counts{}
	for _, s := range sampled {
		if !s.Kind.Java() {
			continue
		}
		insts := w.listing(s.blobRef)
		for pc, c := range s.at {
			k := lineKey{method: s.Name}
			if i := find(insts, pc); i >= 0 && len(insts[i].Frames) > 0 {
				k = lineKey{insts[i].Frames[0].Method, insts[i].Frames[0].Line}
			}
			if lines[k] == nil {
				lines[k] = make(Counts, w.n)
			}
			lines[k].Add(c)
		}
	}
	byMethod := map[string]*FrameTotal{}
	for k, c := range lines {
		f := byMethod[k.method]
		if f == nil {
			f = &FrameTotal{Method: k.method, Counts: make(Counts, w.n)}
			byMethod[k.method] = f
		}
		f.Counts.Add(c)
		f.Lines = append(f.Lines, LineTotal{k.line, c})
	}
	frames := make([]FrameTotal, 0, len(byMethod))
	for _, f := range byMethod {
		slices.SortFunc(f.Lines, func(a, b LineTotal) int {
			return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Line, b.Line))
		})
		frames = append(frames, *f)
	}
	slices.SortFunc(frames, func(a, b FrameTotal) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Method, b.Method))
	})
	return frames
}

// find gives the instruction that holds pc, -1 without one.
func find(insts []printassembly.Instruction, pc uint64) int {
	i, ok := slices.BinarySearchFunc(insts, pc, func(in printassembly.Instruction, pc uint64) int {
		return cmp.Compare(in.Lo, pc)
	})
	if !ok {
		i--
	}
	if i < 0 || pc >= insts[i].Hi {
		return -1
	}
	return i
}

func (w *work) native() []NativeFunction {
	functions := make([]NativeFunction, 0, len(w.trial.native))
	for key, c := range w.trial.native {
		functions = append(functions, NativeFunction{key.module, key.symbol, w.counts(c)})
	}
	slices.SortFunc(functions, func(a, b NativeFunction) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Symbol, b.Symbol))
	})
	return functions
}

// sources adds everything up by the Source column; the result has each
// profiled sample once.
func (w *work) sources(sampled []*sampledBlob, native []NativeFunction) []Source {
	total := map[string]Counts{}
	add := func(source string, c Counts) {
		if total[source] == nil {
			total[source] = make(Counts, w.n)
		}
		total[source].Add(c)
	}
	for _, s := range sampled {
		add(s.Source(), s.counts)
	}
	for _, f := range native {
		add(f.Module, f.Counts)
	}
	if u := w.counts(w.trial.unresolved); slices.Max(append(u, 0)) > 0 {
		add("unresolved", u)
	}
	sources := make([]Source, 0, len(total))
	for name, c := range total {
		sources = append(sources, Source{name, c})
	}
	slices.SortFunc(sources, func(a, b Source) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Source, b.Source))
	})
	return sources
}
