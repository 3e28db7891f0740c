// Package runcounts reads how often and how long all threads of a process have run, with a BPF iterator: a program that
// the kernel runs for each thread while a file is read. The numbers are those in the threads' files schedstat in /proc.
// For thousands of threads, the iterator takes a third of the time that reading these files one by one takes.
//
//	c, err := runcounts.Open(pid)
//	threads, err := c.Read(nil)
//
// It needs Linux 6.1 with the kernel's type information (CONFIG_DEBUG_INFO_BTF) and the right to use BPF, and gasm must
// be in the machine's first PID namespace. Open takes about 50 ms of processor time.
package runcounts

// A Thread has the kernel's counts for a thread, as in the thread's file schedstat.
type Thread struct {
	TID   int
	Ran   uint64 // how long it has run, in ns
	Delay uint64 // how long it has waited for a processor, in ns
	Count uint64 // how often it has been scheduled
}
