package top

import "github.com/gasm-profiler/gasm/sampler"

// resolveAgain looks again for the code of those samples of the last seconds whose code was not known when they came.
// For example, the code of a JVM that has just been found is listed a little after its first samples.
func (m *Model) resolveAgain() {
	changed := map[int]bool{}
	for pid, j := range m.jvms {
		changed[pid], j.grown = j.grown, false
	}
	for i := range m.buckets {
		b := &m.buckets[i]
		if len(m.buckets)-i > unresolvedTicks {
			b.unresolved = nil
			continue
		}
		left := b.unresolved[:0]
		for _, u := range b.unresolved {
			if !changed[u.pid] || !m.resolveLate(b, &u) {
				left = append(left, u)
			}
		}
		b.unresolved = left
	}
}

// resolveLate moves a sample from the key under which it was counted to the key with its code. It returns false if the
// code is still not known.
func (m *Model) resolveLate(b *bucket, u *unresolved) bool {
	j := m.jvms[u.pid]
	if u.monoNanos < j.StartMonoNanos { // the sample was taken in an earlier JVM with the same id
		return false
	}
	c := j.find(&sampler.Sample{PID: u.pid, PC: u.pc, MonoNanos: u.monoNanos})
	if c == nil {
		return false
	}
	to := u.key
	to.function, to.code, to.pc = 0, c, u.pc
	if b.counts[u.key]--; b.counts[u.key] <= 0 {
		delete(b.counts, u.key)
	}
	b.counts[to]++
	if m.all[u.key] >= 1 { // otherwise the key was dropped since, and the sample counts with others
		if m.all[u.key]--; m.all[u.key] == 0 {
			delete(m.all, u.key)
		}
		m.all[to]++
	}
	return true
}
