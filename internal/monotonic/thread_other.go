//go:build !linux

package monotonic

import "time"

// ThreadCPU returns 0. It is only needed on Linux.
func ThreadCPU() time.Duration { return 0 }

// A Thread is an OS thread of this process. It is only needed on Linux.
type Thread struct{}

// CurrentThread returns a Thread.
func CurrentThread() Thread { return Thread{} }

// Ready returns 0.
func (Thread) Ready() time.Duration { return 0 }
