package wallclock

import (
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A budget decides whether the recorder may use more processor time. It counts the time of the OS thread that calls its
// methods, which must always be the same one, and the time that other OS threads use for the recorder.
type budget struct {
	share     float64
	elsewhere func() time.Duration // processor time that other OS threads have used for the recorder
	beginning bool                 // true until each thread has been looked at once
	saved     time.Duration        // processor time that may be used; negative if too much was used
	cpu       time.Duration        // the processor time when saved was last computed
	wall      time.Time            // the time when saved was last computed
	// asking and looking are the average times that it takes to ask a thread whether it has run, and to look at a
	// thread. running is the share of the threads that had run when they were asked.
	asking, looking time.Duration
	running         float64
	// pass limits how far saved may grow: it is enough to ask all threads once, and to look at those that have run.
	pass time.Duration
}

const (
	// firstShare multiplies the recorder's share until each thread has been looked at once. Before that, it is not
	// known what all threads do.
	firstShare = 10
	// mostSaved limits how much processor time may be saved up and then used at once, unless the field pass is larger.
	// When nothing is saved, looks are left out, and short waits then seem shorter than they are.
	mostSaved = 20 * time.Millisecond
	// usedShare is the part of the budget that the recorder plans to use. The rest is for what can't be foreseen, so
	// that it rarely has to leave out looks, unless counts of virtual threads use the rest (virtualPart).
	usedShare = 0.5
)

func newBudget(share float64, elsewhere func() time.Duration) budget {
	b := budget{share: share, elsewhere: elsewhere, beginning: true, saved: mostSaved, wall: time.Now(),
		asking: time.Microsecond, looking: 30 * time.Microsecond}
	b.cpu = b.used()
	return b
}

// used returns the processor time that the recorder has used.
func (b *budget) used() time.Duration { return monotonic.ThreadCPU() + b.elsewhere() }

// left reports whether the recorder may use more processor time now.
func (b *budget) left() bool {
	cpu, now := b.used(), time.Now()
	share := b.share
	if b.beginning {
		share = min(1, share*firstShare)
	}
	earned := time.Duration(float64(now.Sub(b.wall)) * share)
	b.saved = min(b.saved+earned, max(mostSaved, b.pass, b.saved)) - (cpu - b.cpu)
	b.cpu, b.wall = cpu, now
	return b.saved > 0
}

// begun is called when each thread has been looked at once. The processor time of these first looks is not charged to
// later ones.
func (b *budget) begun() { b.beginning, b.saved = false, max(b.saved, 0) }

// asked records how long it took to ask n threads whether they have run.
func (b *budget) asked(n int, took time.Duration) {
	if n > 0 {
		b.asking += (took/time.Duration(n) - b.asking) / 8
	}
}

// looked records how long it took to look at n threads.
func (b *budget) looked(n int, took time.Duration) {
	if n > 0 {
		b.looking += (took/time.Duration(n) - b.looking) / 8
	}
}

// ran records that n of the threads that were due had to be looked at. The parameter all is the number of all threads.
func (b *budget) ran(n, due, all int) {
	if due > 0 {
		b.running += (float64(n)/float64(due) - b.running) * float64(due) / float64(max(due, 2*all))
	}
}

// pause returns how long to wait before a thread is asked again. If all threads are asked with this pause, asking and
// looking use usedShare of the budget.
func (b *budget) pause(threads int) time.Duration {
	each := float64(b.asking) + b.running*float64(b.looking)
	b.pass = time.Duration(float64(threads) * each / usedShare)
	return time.Duration(float64(b.pass) / b.share)
}
