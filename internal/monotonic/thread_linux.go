package monotonic

import (
	"fmt"
	"os"
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

// A Thread is an OS thread of this process. The zero Thread is none.
type Thread struct{ id int }

// CurrentThread returns the current OS thread. A goroutine that keeps the result must have called
// runtime.LockOSThread.
func CurrentThread() Thread { return Thread{unix.Gettid()} }

// Ready returns for how long the thread has run or has waited for a processor, since its start. The rest of its time it
// has waited for something else. The result does not include a wait for a processor that has not ended. It is 0 if the
// thread has ended, or if the kernel does not count this.
func (t Thread) Ready() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", t.id))
	var ran, waited int64
	if _, bad := fmt.Sscan(string(text), &ran, &waited); err != nil || bad != nil {
		return 0
	}
	return time.Duration(ran + waited)
}
