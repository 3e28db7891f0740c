package wallclock

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

const (
	// listEvery is the longest time between two lists of the threads, unless listing takes too long. If the number of
	// threads has changed, they are listed at once.
	listEvery = int64(time.Second)
	// Listing the threads may take 1/changedEvery of a processor's time while the number of threads changes, and
	// 1/sameEvery while it does not.
	changedEvery, sameEvery = 200, 2000
)

// round asks all threads that are due whether they have run, and looks at those that have. It reports whether the JVM
// still runs.
func (r *Recorder) round() bool {
	now := monotonic.Nanos()
	count, err := r.looker.ThreadCount()
	if err != nil {
		return false
	}
	state := r.looker.State()
	if r.stopped = state == threaddump.Stopped; state == threaddump.Ended && count <= 1 {
		return false // the JVM has ended, but its parent has not waited for it yet
	}
	if r.out.Full() {
		r.result.Read = errFull
		return false
	}
	since, took := now-r.listed, int64(r.listing)
	if (count != r.count || r.again) && since >= took*changedEvery || since >= max(listEvery, took*sameEvery) {
		r.count = count
		began := r.budget.used()
		if err := r.list(now); err != nil {
			if !errors.Is(err, syscall.ESRCH) && !errors.Is(err, fs.ErrNotExist) { // they mean that the JVM has ended
				r.result.Read = err
			}
			return false
		}
		r.listing = r.budget.used() - began
	}
	r.chooseWay()
	r.askAll(now)
	if !r.begun && !slices.ContainsFunc(r.threads, func(t *thread) bool { return !t.looked }) {
		r.begun = true
		r.budget.begun()
		r.result.First, r.result.FirstTook = r.budget.used(), time.Duration(monotonic.Nanos()-r.from)
	}
	r.countVirtual(now)
	if now-r.second >= int64(time.Second) {
		r.second = now
		r.everySecond(now)
	}
	return true
}

var errFull = errors.New("the file has reached its largest size; look less often (--wall=5), or record for a shorter time")

// atOnce is the number of threads that are looked at before the recorder checks again whether it may use more processor
// time.
const atOnce = 32

// askAll asks all threads that are due whether they have run, and looks at those that have. If it leaves out looks, the
// next call begins with the first thread that was left out, so that it is not always the same threads whose looks are
// left out.
func (r *Recorder) askAll(now int64) {
	if len(r.threads) == 0 || r.counts != nil && r.begun && now < r.due {
		return
	}
	r.all = append(r.all[:0], r.threads...) // a copy, because ended threads are removed from r.threads
	all := r.all
	first := r.turn % len(all)
	r.turn = first
	asked, began := 0, monotonic.ThreadCPU()
	together := r.askTogether(now)
	if together {
		asked = len(all)
	}
	due := 0
	looks, left, may := r.result.Looks, r.result.Left, r.budget.left()
	turned := false
	look := func() {
		now := monotonic.ThreadCPU()
		r.budget.asked(asked, now-began)
		n := len(r.todo)
		r.lookAll()
		began, asked = monotonic.ThreadCPU(), 0
		r.budget.looked(n, began-now)
	}
	for i := range all {
		t := all[(first+i)%len(all)]
		if !r.isDue(t, now, together) {
			continue
		}
		due++
		switch {
		case t.phase != blocked:
			r.want(t, now, may)
		case together && t.told.Known:
			r.answered(t, t.told, now, may)
		default:
			asked++
			r.ask(t, may)
		}
		if len(r.todo) == atOnce {
			look()
			may = r.budget.left()
		}
		if r.result.Left > left && !turned {
			r.turn, turned = (first+i)%len(all), true
		}
	}
	look()
	if r.begun {
		r.budget.ran(int(r.result.Looks-looks+r.result.Left-left), due, len(all))
	}
}

// isDue reports whether a thread is to be asked now. together is true if all threads have just been asked.
func (r *Recorder) isDue(t *thread, now int64, together bool) bool {
	if r.counts != nil {
		return together || !t.looked
	}
	return t.due <= now
}

// ask asks a thread that was blocked whether it has run.
func (r *Recorder) ask(t *thread, may bool) {
	runs, err := r.looker.Ask(t.known)
	now := monotonic.Nanos()
	if err != nil || !runs.Known {
		r.ended(t, now)
		return
	}
	r.answered(t, runs, now, may)
}

// answered processes the answer for a thread that was blocked: how often the thread had run at the time now.
func (r *Recorder) answered(t *thread, runs threaddump.Runs, now int64, may bool) {
	switch {
	case runs.Count == t.runs.Count:
		t.due = r.nextTime(now)
		t.still(now)
	default:
		r.want(t, now, may)
	}
}

// want adds a thread to those that lookAll looks at, or leaves the look out. As long as not every thread has been
// looked at once, looks that are left out are not counted, because they are only postponed.
func (r *Recorder) want(t *thread, now int64, may bool) {
	switch {
	case may:
		r.todo = append(r.todo, t)
	case r.begun:
		r.result.Left++
	}
	if may || t.looked {
		t.due = r.nextTime(now)
	}
}

// nextTime returns when a thread is asked again. With many threads, this is later than the next round. This time must
// not depend on what the thread has done, because the place at the end of an interval gets all of the interval's time.
// That is right on average only if the end was chosen without regard to where the thread is.
func (r *Recorder) nextTime(now int64) int64 {
	if pause := r.budget.pause(len(r.threads)); pause > r.period() {
		return now + int64((0.5+rand.Float64())*float64(pause))
	}
	return now
}

// lookAll looks at the threads in r.todo.
func (r *Recorder) lookAll() {
	if len(r.todo) == 0 {
		return
	}
	now := monotonic.Nanos()
	var outdated []*thread
	known := make([]*threaddump.Known, len(r.todo))
	for i, t := range r.todo {
		known[i] = t.known
		if now-t.renewed > min(max((now-t.met)/2, shortestRenewal), longestRenewal) {
			outdated = append(outdated, t)
		}
	}
	r.renew(outdated, now)
	r.looker.LookAll(known, func(i int, k *threaddump.Look) { r.found(r.todo[i], k) })
	r.todo = r.todo[:0]
}

// A thread's name is read again before a look if the last reading is older than half of the thread's age, at least
// shortestRenewal and at most longestRenewal.
const shortestRenewal, longestRenewal = int64(50 * time.Millisecond), int64(10 * time.Second)

// found processes a look at a thread.
func (r *Recorder) found(t *thread, k *threaddump.Look) {
	r.result.Looks++
	t.looked = true
	switch k.Stack {
	case threaddump.Running:
		t.runningAt(k.Runs, k.MonoNanos)
	case threaddump.Moved:
		r.result.Moved++
		t.unseen(k.Runs, k.MonoNanos, "moved")
	case threaddump.Unread:
		now := monotonic.Nanos()
		if _, err := r.looker.Runs(t.known); err != nil {
			r.ended(t, now)
			return
		}
		r.result.Unread++
		t.unseen(threaddump.Runs{}, now, "")
	default:
		t.blockedAt(r.place(t, k), k.Runs, k.MonoNanos)
	}
}
