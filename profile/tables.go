package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

const kernelModule = sampler.KernelModule

// skipped tells whether the user wants to see no code of a kind.
func (w *work) skipped(k printassembly.Kind) bool {
	return w.opts.SkipInterpreter && k == printassembly.Interpreter || w.opts.SkipStubs && k.IsStub()
}

// methods adds up blobs by source and name: the compilations of a method, in all forks.
func (w *work) methods(sampled []*sampledBlob, pids []int) []Method {
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
			methods = append(methods, Method{Source: k.source, Name: k.name, CompileID: s.ID, Counts: make(Counts, w.n), PerJVM: w.zeros(len(pids)), Slices: w.newSlices()})
		}
		methods[i].Blobs++
		methods[i].Counts.Add(s.counts)
		for _, over := range s.overTime {
			addSlices(methods[i].Slices, s.firstSlice, over)
		}
		addOf(methods[i].PerJVM, pids, s.pid, s.counts)
	}
	slices.SortStableFunc(methods, func(a, b Method) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
	})
	return methods
}

// addOf adds counts of one process to those of all, which are in the order of pids.
func addOf(perJVM []Counts, pids []int, pid int, c Counts) {
	if perJVM == nil {
		return
	}
	if i, ok := slices.BinarySearch(pids, pid); ok {
		perJVM[i].Add(c)
	}
}

// find gives the index of the instruction that holds pc; -1 when none does.
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

// native sums up functions over all processes.
func (w *work) native(pids []int) []NativeFunction {
	index := map[nativeKey]int{}
	functions := []NativeFunction{}
	for key, c := range w.trial.native {
		slice, pid := key.slice, key.pid
		key.pid, key.slice = 0, 0
		i, ok := index[key]
		if !ok {
			i = len(functions)
			index[key] = i
			functions = append(functions, NativeFunction{Module: key.module, Symbol: key.symbol, Counts: make(Counts, w.n), PerJVM: w.zeros(len(pids)), Slices: w.newSlices()})
		}
		f := &functions[i]
		f.Counts.Add(c)
		addOf(f.PerJVM, pids, pid, c)
		if f.Slices != nil {
			f.Slices[slice].Add(c)
		}
	}
	slices.SortFunc(functions, func(a, b NativeFunction) int {
		return cmp.Or(compareCounts(a.Counts, b.Counts), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Symbol, b.Symbol))
	})
	return functions
}

// sources adds everything up by the Source column. Each profiled sample is in one row.
func (w *work) sources(sampled []*sampledBlob, native []NativeFunction) []Source {
	total := map[string]Counts{}
	for _, s := range sampled {
		addTo(w, total, s.Source(), s.counts)
	}
	for _, f := range native {
		addTo(w, total, f.Module, f.Counts)
	}
	for _, c := range w.trial.unresolved {
		addTo(w, total, UnresolvedSource, c)
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
