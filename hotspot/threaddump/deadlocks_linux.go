package threaddump

// findDeadlocks finds the cycles in which each thread waits for a lock of the next one. A thread waits for at most one
// other thread, so it is in at most one cycle.
func findDeadlocks(threads []Thread) (all []Deadlock) {
	const unseen, done = 0, -1
	round := make([]int, len(threads)) // by thread: the search that has visited it (start+1), unseen or done
	for start := range threads {
		at, now := start, start+1
		for at >= 0 && round[at] == unseen {
			round[at] = now
			at = threads[at].waitsFor(at)
		}
		if at >= 0 && round[at] == now {
			var d Deadlock
			for i := at; len(d) == 0 || i != at; i = threads[i].waitsFor(i) {
				d = append(d, i)
			}
			all = append(all, d)
		}
		for i := start; i >= 0 && round[i] == now; i = threads[i].waitsFor(i) {
			round[i] = done
		}
	}
	return all
}

// waitsFor returns the index of the thread that has the lock for which this thread waits, or -1. self is the index of
// this thread.
func (t *Thread) waitsFor(self int) int {
	l := t.waits()
	if l == nil || l.Owner == self {
		return -1
	}
	return l.Owner
}
