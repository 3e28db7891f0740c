package monotonic

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadCPU returns the CPU time that the current OS thread has used. A goroutine that compares two results must have
// called runtime.LockOSThread.
func ThreadCPU() time.Duration {
	var used unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used) // every Linux has this clock
	return time.Duration(used.Nano())
}
