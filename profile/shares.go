package profile

import (
	"fmt"
	"slices"
)

// shares gives what each process has of the profile.
func (w *work) shares(sampled []*sampledBlob, pids []int) []JVMShare {
	shares := make([]JVMShare, len(pids))
	for i, pid := range pids {
		shares[i] = JVMShare{PID: pid, Counts: make(Counts, w.n), Native: make(Counts, w.n),
			Java: make(Counts, w.n), JIT: make(Counts, w.n), GC: make(Counts, w.n)}
	}
	w.shareByThreads(shares, pids)
	add := func(pid int, c Counts, native bool) {
		i, ok := slices.BinarySearch(pids, pid)
		if !ok {
			return // cannot happen: only processes of the trial are counted
		}
		shares[i].Counts.Add(c)
		if native {
			shares[i].Native.Add(c)
		}
	}
	for _, s := range sampled {
		add(s.pid, s.counts, false)
	}
	for key, c := range w.trial.native {
		add(key.pid, w.counts(c), true)
	}
	for key, c := range w.trial.unresolved {
		add(key.pid, w.counts(c), false)
	}
	return shares
}

// shareByThreads tells what each process did in the samples that it has.
func (w *work) shareByThreads(shares []JVMShare, pids []int) {
	for key, c := range w.trial.threads {
		i, ok := slices.BinarySearch(pids, key.pid)
		switch kind := w.b.seen.kinds[key.label]; {
		case !ok: // cannot happen
		case kind == CompilerThreads:
			shares[i].JIT.Add(c)
		case kind == CollectorThreads:
			shares[i].GC.Add(c)
		case !key.outside:
			shares[i].Java.Add(c)
		}
	}
}

// zeros makes n counts of some events.
func zeros(n, events int) []Counts {
	all, values := make([]Counts, n), make(Counts, n*events)
	for i := range all {
		all[i] = values[i*events : (i+1)*events : (i+1)*events]
	}
	return all
}

// maxCompared is how many numbers a profile may have that compare JVMs or slices. It is more
// than 100 forks with 5 slices each have in 10 000 functions.
const maxCompared = 8 << 20

// zeros makes counts for n JVMs or slices. It gives nil when the profile has too many.
func (w *work) zeros(n int) []Counts {
	if w.compared += n * w.n; w.compared > maxCompared {
		return nil
	}
	return zeros(n, w.n)
}

// dropCompared leaves out what compares JVMs and slices, where there is too much of it.
func (w *work) dropCompared(p *Profile) {
	if w.compared <= maxCompared {
		return
	}
	w.warnings = append(w.warnings, fmt.Sprintf("%d JVMs with so many functions are too much to compare: the report has their sums only", len(p.PIDs)))
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
