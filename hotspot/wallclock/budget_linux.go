package wallclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// A budget says whether the recorder may use more processor time. Its own time must be used by one thread of the kernel.
type budget struct {
	share  float64
	saved  time.Duration // processor time that may be used; negative if too much was used
	cpu    time.Duration // when saved was worked out, of the thread
	wall   time.Time     // the same, of the clock
	asking time.Duration // what it takes to ask whether a thread has run, on average
}

const (
	// firstLook is how much processor time may be used at once at the beginning for each thread, because each must be looked
	// at.
	firstLook = 200 * time.Microsecond
	// mostSaved is how much may be used at once later.
	mostSaved = 20 * time.Millisecond
)

func newBudget(share float64, threads int) budget {
	return budget{share: share, saved: max(mostSaved, time.Duration(threads)*firstLook), cpu: threadCPU(), wall: time.Now(), asking: time.Microsecond}
}

// left reports whether there is time left.
func (b *budget) left() bool {
	cpu, now := threadCPU(), time.Now()
	earned := time.Duration(float64(now.Sub(b.wall)) * b.share)
	if b.saved < mostSaved {
		b.saved = min(b.saved+earned, mostSaved)
	}
	b.saved -= cpu - b.cpu
	b.cpu, b.wall = cpu, now
	return b.saved > 0
}

// begin begins to count, after the first looks. What these have used is not charged to the looks after them.
func (b *budget) begin() { b.saved = mostSaved }

// asked notes how long it took to ask for n threads.
func (b *budget) asked(n int, took time.Duration) {
	if n > 0 {
		b.asking += (took/time.Duration(n) - b.asking) / 8
	}
}

// pause returns the time between two questions whether a thread has run, if it has not run for long. All such questions
// take half of the budget.
func (b *budget) pause(threads int) time.Duration {
	return time.Duration(float64(threads) * float64(b.asking) / (b.share / 2))
}

// threadCPU returns how much processor time this thread of the kernel has used.
func threadCPU() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
