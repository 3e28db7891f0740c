package monotonic

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Spent is a sum of CPU times that functions have used. Any goroutine may use it.
type Spent struct{ nanos atomic.Int64 }

// During runs the function f, and adds the CPU time that f uses in its own goroutine.
func (s *Spent) During(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := ThreadCPU()
	f()
	s.nanos.Add(int64(ThreadCPU() - began))
}

// Total returns the sum for the functions that have returned so far.
func (s *Spent) Total() time.Duration { return time.Duration(s.nanos.Load()) }
