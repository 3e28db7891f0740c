package wallclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// A budget decides whether the recorder may use more processor time. It counts the time of one OS thread, which must
// make all calls.
type budget struct {
	share  float64
	saved  time.Duration // processor time that may be used; negative if too much was used
	cpu    time.Duration // the thread's processor time when saved was computed
	wall   time.Time     // when saved was computed
	asking time.Duration // how long it takes to ask whether one thread has run, on average
}

const (
	// firstLook is how much processor time per thread may be used at once at the beginning, because each thread must be
	// looked at.
	firstLook = 500 * time.Microsecond
	// mostSaved is how much processor time may be used at once later.
	mostSaved = 20 * time.Millisecond
)

func newBudget(share float64, threads int) budget {
	return budget{share: share, saved: max(mostSaved, time.Duration(threads)*firstLook), cpu: threadCPU(),
		wall: time.Now(), asking: time.Microsecond}
}

// left reports whether the recorder may use more processor time now.
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

// begin starts the accounting after the first looks. The time that these have used is not charged to later looks.
func (b *budget) begin() { b.saved = mostSaved }

// asked records that it took that long to ask n threads whether they have run.
func (b *budget) asked(n int, took time.Duration) {
	if n > 0 {
		b.asking += (took/time.Duration(n) - b.asking) / 8
	}
}

// pause returns how long to wait before a thread that has not run for long is asked again whether it has run. With this
// pause, asking all threads takes half of the budget.
func (b *budget) pause(threads int) time.Duration {
	return time.Duration(float64(threads) * float64(b.asking) / (b.share / 2))
}

// threadCPU returns how much processor time the current OS thread has used.
func threadCPU() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
