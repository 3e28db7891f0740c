// Package wallclock looks at all threads of a running JVM some times a second, and writes what each of them did over the
// wall clock's time: the text of package wall. The JVM takes no part in it; see package threaddump.
//
//	r, err := wallclock.Start(pid, wallclock.Options{JVMs: jvms, Out: file})
//	…
//	result := r.Stop()
//
// # What a look costs
//
// Whether a thread has run since the last look takes one system call (schedstat). If it has not, it is still blocked where
// it was, and that is all. Otherwise it is looked at: its system call, its JavaThread, its stack. A stack that is the same
// as before is not walked again.
//
// These looks take processor time, of which the recorder counts its own (CLOCK_THREAD_CPUTIME_ID). If it has used more than
// its share, it leaves looks out and counts them, but it goes on to ask which threads have run. With many threads, these
// questions alone would take too much, so threads that do not run are asked less often. Both make intervals longer. They
// change no sum, because the kernel goes on to count.
//
// # How intervals become spells
//
// An interval is the time between two looks at a thread that both found out where it was. Package wall has the rules by
// which it becomes spells. Which time belongs to which place does not depend on how long the intervals are, on average: it
// is decided by what is found at the end, and the time of the next look is chosen before.
//
// The kernel brings the time that a thread has run up to date when it leaves the processor, and at each of its own
// ticks. Of a thread that runs, it may lack up to a tick. The recorder keeps the difference between what the kernel has
// counted and what it has written, and puts it right in the next interval.
package wallclock
