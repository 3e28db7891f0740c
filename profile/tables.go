package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/sampler"
)

const kernelModule = sampler.KernelModule

// methods sums up blobs by source and name: the compilations of each method, in all forks.
func (w *work) methods() []Method {
	type key struct{ source, name string }
	index := map[key]int{}
	var methods []Method
	counted := map[version]bool{}
	for _, s := range w.sampled { // hottest first, so the CompileID is that of the hottest blob
		if w.opts.Skips(s.Kind) {
			continue
		}
		k := key{s.Source(), s.Name}
		i, ok := index[k]
		if !ok {
			i = len(methods)
			index[k] = i
			methods = append(methods, Method{Source: k.source, Name: k.name, CompileID: s.ID, Counts: make(tally.Counts, w.n),
				PerJVM: w.compare.PerJVM(), Slices: w.compare.PerSlice()})
		}
		if v := s.version(); s.Kind != printassembly.NMethod || s.ID == 0 || !counted[v] {
			counted[v] = true
			methods[i].Blobs++
		}
		methods[i].Counts.Add(s.counts)
		for _, over := range s.overTime {
			tally.AddSlices(methods[i].Slices, s.firstSlice, over)
		}
		w.compare.AddJVM(methods[i].PerJVM, s.pid, s.counts)
	}
	slices.SortStableFunc(methods, func(a, b Method) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
	})
	return methods
}

// native sums up native functions over all processes.
func (w *work) native() []NativeFunction {
	index := make([]int32, w.b.functions.Len()) // 1 + the function's index in the result; 0 if it is not there yet
	functions := []NativeFunction{}
	for key, c := range w.trial.native {
		if index[key.function] == 0 {
			at := w.b.functions.At(key.function)
			functions = append(functions, NativeFunction{Module: at.Module, Symbol: at.Symbol, Counts: make(tally.Counts, w.n),
				PerJVM: w.compare.PerJVM(), Slices: w.compare.PerSlice()})
			index[key.function] = int32(len(functions))
		}
		f := &functions[index[key.function]-1]
		f.Counts.Add(c)
		w.compare.AddJVM(f.PerJVM, key.pid, c)
		if f.Slices != nil {
			f.Slices[key.slice].Add(c)
		}
	}
	slices.SortFunc(functions, func(a, b NativeFunction) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Symbol, b.Symbol))
	})
	return functions
}

// sources sums up all samples by source ("c2, level 4", "libjvm.so"). Each sample of the profile is in one row.
func (w *work) sources(native []NativeFunction) []Source {
	total := map[string]tally.Counts{}
	for _, s := range w.sampled {
		tally.AddTo(total, s.Source(), s.counts, w.n)
	}
	for _, f := range native {
		tally.AddTo(total, f.Module, f.Counts, w.n)
	}
	for _, c := range w.trial.unresolved {
		tally.AddTo(total, UnresolvedSource, c, w.n)
	}
	sources := make([]Source, 0, len(total))
	for name, c := range total {
		sources = append(sources, Source{name, c})
	}
	slices.SortFunc(sources, func(a, b Source) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts), cmp.Compare(a.Source, b.Source))
	})
	return sources
}

// overTime sums up all samples by slice. It returns nil for a trial that is not cut into slices.
func (w *work) overTime() []tally.Counts {
	sum := w.compare.PerSlice()
	if sum == nil {
		return nil
	}
	for _, s := range w.sampled {
		for _, over := range s.overTime {
			tally.AddSlices(sum, s.firstSlice, over)
		}
	}
	for key, c := range w.trial.native {
		sum[key.slice].Add(c)
	}
	for key, c := range w.trial.unresolved {
		sum[key.slice].Add(c)
	}
	return sum
}

// threads sums up the samples by thread. It returns nil if no sample has a thread's name.
func (w *work) threads() []threads.KindTotal {
	byLabel := map[int32]tally.Counts{}
	for key, c := range w.trial.threads {
		tally.AddTo(byLabel, key.label, c, w.n)
	}
	return w.b.threads.Totals(byLabel, w.n)
}

// shares sums up the samples by process.
func (w *work) shares() []JVMShare {
	shares := make([]JVMShare, len(w.trial.PIDs))
	for i, pid := range w.trial.PIDs {
		shares[i] = JVMShare{PID: pid, Counts: make(tally.Counts, w.n), Native: make(tally.Counts, w.n),
			Java: make(tally.Counts, w.n), JIT: make(tally.Counts, w.n), GC: make(tally.Counts, w.n)}
	}
	of := func(pid int) *JVMShare { // pid is in PIDs, because the trial has no other samples
		i, _ := slices.BinarySearch(w.trial.PIDs, pid)
		return &shares[i]
	}
	for _, s := range w.sampled {
		of(s.pid).Counts.Add(s.counts)
	}
	for key, c := range w.trial.native {
		of(key.pid).Counts.Add(c)
		of(key.pid).Native.Add(c)
	}
	for key, c := range w.trial.unresolved {
		of(key.pid).Counts.Add(c)
	}
	for key, c := range w.trial.threads {
		switch share, kind := of(key.pid), w.b.threads.Kind(key.label); {
		case kind == threads.Compilers:
			share.JIT.Add(c)
		case kind == threads.Collector:
			share.GC.Add(c)
		case !key.outside:
			share.Java.Add(c)
		}
	}
	return shares
}

// dropCompared removes from a profile the counts that are for comparing JVMs and slices with each other. It is called
// if these counts exceed a limit, because then some of them are missing.
func (p *Profile) dropCompared() {
	p.Slices = nil
	for i := range p.Methods {
		p.Methods[i].PerJVM, p.Methods[i].Slices = nil, nil
	}
	for i := range p.Frames {
		p.Frames[i].PerJVM, p.Frames[i].Slices = nil, nil
	}
	for i := range p.Native {
		p.Native[i].PerJVM, p.Native[i].Slices = nil, nil
	}
}
