// Package wallclock looks at all threads of a running JVM several times a second, and writes what each of them did over
// the wall clock's time, in the format of package wall. The JVM takes no part in it; see package threaddump.
//
//	r, err := wallclock.Start(pid, wallclock.Options{JVMs: jvms, Out: file})
//	…
//	result := r.Stop()
//
// # What a look costs
//
// One system call (schedstat) reads whether a thread has run since the last look. If it has not, it is still blocked
// where it was, and nothing else needs to be read. If it has run, the recorder reads its system call, its JavaThread
// and its stack. A stack that is the same as before is not walked again.
//
// These looks take processor time. The recorder counts its own (CLOCK_THREAD_CPUTIME_ID). If it has used more than its
// share, it leaves looks out and counts them, but it still reads which threads have run. With many threads, these
// readings alone would take too much, so threads that have not run for some time are read less often. Both make the
// intervals between looks longer. The sums stay correct, because the kernel counts in any case.
//
// # How intervals become spells
//
// An interval is the time between two looks at a thread that both found out where it was. Package wall has the rules by
// which intervals become spells. On average, longer intervals do not change which place gets how much time: the place
// is what the look at the interval's end finds, and the time of that look was chosen before.
//
// The kernel updates the time that a thread has run when the thread leaves the processor, and at each tick of the
// kernel. So the count for a running thread may be up to a tick too small. The recorder keeps the difference between
// what the kernel has counted and what it has written, and corrects it in the next interval.
package wallclock
