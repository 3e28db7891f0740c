package profile

import "slices"

// shares gives what each process has of the profile.
func (w *work) shares(sampled []*sampledBlob, pids []int) []JVMShare {
	shares := make([]JVMShare, len(pids))
	for i, pid := range pids {
		shares[i] = JVMShare{PID: pid, Counts: make(Counts, w.n), Native: make(Counts, w.n)}
	}
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

// zeros makes counts for n processes.
func (w *work) zeros(n int) []Counts {
	all := make([]Counts, n)
	for i := range all {
		all[i] = make(Counts, w.n)
	}
	return all
}
