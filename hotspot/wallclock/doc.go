// Package wallclock looks at all threads of a running JVM several times a second, and writes how each of them spent the
// time, in the format of package wall. The JVM does nothing for that; see package threaddump.
//
//	r, err := wallclock.Start(pid, wallclock.Options{JVMs: jvms, Out: file})
//	…
//	result := r.Stop()
//
// # What a look costs
//
// One system call (schedstat) reads whether a thread has run since the last look, or one pass of a BPF iterator reads
// it for all threads (package runcounts). If a thread has not run, it is still blocked where it was, and nothing else
// needs to be read. If it has run, the recorder reads its system call, and then its JavaThread, its stack and the
// memory of the JVM that the last look has read, all with one system call (vmstructs.Ahead). At the end it reads
// schedstat again. A stack that is the same as before is not walked again. Others are walked in groups, because gasm
// has to read what has changed in the JVM's code before it walks a stack.
//
// Looks take processor time. With thousands of threads, even asking each of them 20 times a second whether it has run
// would take too much. So the recorder measures what asking and looking cost, in its own thread and in others that read
// for it, and how many threads have run when they are asked. It asks all threads at such a rate that asking and looking
// should take half of the recorder's share of a processor. If it has used more than its share nevertheless, it leaves
// out looks and counts how many. The sums of times stay correct, because the kernel counts how long each thread has
// run.
//
// Virtual threads that are not mounted have no kernel thread. Once a second, the recorder counts those that wait at
// each place (package virtualthreads). If there are many, it chooses some at random, so that a count takes half of the
// budget at most. These counts are not part of any thread's spells.
//
// # How intervals become spells
//
// An interval is the time between two looks at a thread that both found out where it was. Package wall has the rules by
// which intervals become spells. Longer intervals do not change, on average, how much time each place gets. An
// interval's time goes to the place at which the look at its end finds the thread, and the moment of that look was
// chosen without regard to where the thread is. That is why all threads are asked equally often, whatever they do. If
// threads that have just run, or threads at some places, were asked at other times than others, their places would get
// too much or too little.
//
// The kernel updates a thread's running time when the thread leaves the processor, and at each tick of the kernel. So
// the count for a running thread may be up to a tick too small. The recorder keeps the difference between what the
// kernel has counted and what it has written, and corrects it in the next interval.
package wallclock
