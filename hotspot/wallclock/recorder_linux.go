package wallclock

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/wall"
)

// A Recorder records one JVM. Its methods may be called from any goroutine.
type Recorder struct {
	looker  *threaddump.Looker
	out     *wall.Writer
	hertz   int
	budget  budget
	stop    chan struct{}
	once    sync.Once
	done    chan struct{}
	threads []*thread // the running ones, sorted by id
	byTID   map[int]*thread
	byJava  map[uint64]*thread
	turn    int // index of the thread that is asked first in the next round
	count   int // number of threads when they were listed last
	listed  int64
	listing time.Duration // processor time of the last listing
	second  int64         // when everySecond was called last
	from    int64         // when the recording began
	stopped bool          // the process is stopped
	begun   bool          // each thread was looked at
	result  Result
	clamped int64
	taken   map[takenKey]taken
}

// A thread is a thread that is being recorded.
type thread struct {
	life
	number   int
	known    *threaddump.Known
	met      int64 // when it was found
	renewed  int64 // when its name was read last
	due      int64 // when it is asked next whether it has run
	quiet    int   // how often in a row it had not run when it was asked
	opened   int64 // beginning of the spell that was written as open
	reasons  reasons
	previous wall.Spell // what the last look found, for reuse if the stack is the same
}

// Start begins to record a JVM. If its threads can't be read, the error says why.
func Start(pid int, o Options) (*Recorder, error) {
	looker, err := threaddump.NewLooker(o.JVMs, pid)
	if err != nil {
		return nil, err
	}
	r := &Recorder{looker: looker, hertz: cmp.Or(o.Hertz, DefaultHertz), stop: make(chan struct{}),
		done:  make(chan struct{}),
		byTID: map[int]*thread{}, byJava: map[uint64]*thread{}, taken: map[takenKey]taken{}}
	now := monotonic.Nanos()
	r.from = now
	r.out = wall.NewWriter(o.Out, wall.Head{PID: pid, Hertz: r.hertz, FromMonoNanos: now})
	began := make(chan error)
	go func() {
		runtime.LockOSThread() // the budget counts the time of this OS thread, which ends with the goroutine
		err := r.list(now)
		r.budget = newBudget(cmp.Or(o.Share, defaultShare), len(r.threads))
		if err == nil && len(r.threads) == 0 {
			err = errNoThreads
		}
		began <- err
		if err != nil {
			close(r.done)
			return
		}
		r.run()
	}()
	if err := <-began; err != nil {
		<-r.done
		r.close()
		return nil, err
	}
	return r, nil
}

var errNoThreads = errors.New("none of its threads can be read")

// Stop ends the recording. A second call returns the same Result.
func (r *Recorder) Stop() Result {
	r.once.Do(func() { close(r.stop) })
	<-r.done
	return r.result
}

// Done returns a channel that is closed when the recording has ended, because it was stopped or the JVM has ended.
func (r *Recorder) Done() <-chan struct{} { return r.done }

// run looks at the threads until the recording is stopped or the JVM has ended.
func (r *Recorder) run() {
	defer close(r.done)
	defer r.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ended := false; !ended; {
		select {
		case <-r.stop:
			r.lastRound()
			ended = true
		case <-timer.C:
			ended = !r.round()
			// The pauses are random, so that they can't coincide with a rhythm of the program.
			timer.Reset(time.Duration((0.5 + rand.Float64()) * float64(r.period())))
		}
	}
	r.finish()
}

func (r *Recorder) close() {
	for _, t := range r.threads {
		r.looker.Forget(t.known)
	}
	r.looker.Close()
}

// period returns the average time between two rounds.
func (r *Recorder) period() time.Duration { return time.Second / time.Duration(r.hertz) }

const (
	// listEvery is the longest time between two lists of the threads, unless listing takes too long. If the number of
	// threads has changed, they are listed at once.
	listEvery = int64(time.Second)
	// Listing the threads may take 1/changedEvery of a processor's time while the number of threads changes, and
	// 1/sameEvery while it does not.
	changedEvery, sameEvery = 200, 400
)

// round asks all threads that are due whether they have run, and looks at those that have. It returns false if the JVM
// has ended.
func (r *Recorder) round() bool {
	now := monotonic.Nanos()
	count, err := r.looker.ThreadCount()
	if err != nil {
		return false
	}
	since, took := now-r.listed, int64(r.listing)
	if count != r.count && since >= took*changedEvery || since >= max(listEvery, took*sameEvery) {
		r.count = count
		began := threadCPU()
		if err := r.list(now); err != nil {
			if !errors.Is(err, syscall.ESRCH) && !errors.Is(err, fs.ErrNotExist) { // they mean that the JVM has ended
				r.result.Read = err
			}
			return false
		}
		r.listing = threadCPU() - began
	}
	r.stopped = r.looker.Stopped()
	if len(r.threads) > 0 {
		r.askAll(now)
	}
	if now-r.second >= int64(time.Second) {
		r.second = now
		r.everySecond(now)
	}
	return true
}

// askAll asks all threads that are due whether they have run. It begins with another thread each time, so that it is
// not always the same threads whose looks are left out.
func (r *Recorder) askAll(now int64) {
	all := slices.Clone(r.threads) // a copy, because ended threads are removed from r.threads
	first := r.turn % len(all)
	r.turn = first
	began, n, looks := threadCPU(), 0, r.result.Looks
	for i := range all {
		t := all[(first+i)%len(all)]
		if t.due > now {
			continue
		}
		n++
		before := r.result.Left
		r.ask(t)
		if r.result.Left == before {
			continue
		}
		if r.turn == first {
			r.turn = (first + i) % len(all)
		}
	}
	if looks == r.result.Looks {
		r.budget.asked(n, threadCPU()-began)
	}
}

// ask asks a thread whether it has run, and looks at it if it has and if the budget allows that.
func (r *Recorder) ask(t *thread) {
	runs, err := r.looker.Runs(t.known)
	now := monotonic.Nanos()
	if err != nil || !runs.Known {
		r.ended(t, now)
		return
	}
	t.due = now
	if t.phase == blocked && runs.Count == t.runs.Count {
		t.still(now)
		if t.quiet++; t.quiet > 2 {
			r.postpone(t, now)
		}
		return
	}
	if !r.budget.left() {
		r.result.Left++
		r.postpone(t, now)
		return
	}
	t.quiet = 0
	r.look(t, now)
}

// postpone chooses the next time to ask a thread that has not run for some time, or that could not be looked at. With
// many threads, this is later than the next round.
func (r *Recorder) postpone(t *thread, now int64) {
	if pause := r.budget.pause(len(r.threads)); pause > r.period() {
		t.due = now + int64((0.5+rand.Float64())*float64(pause))
	}
}

// look looks at a thread that has run.
func (r *Recorder) look(t *thread, now int64) {
	if renewAfter := now - t.met; now-t.renewed > min(max(renewAfter/2, int64(50*time.Millisecond)),
		int64(10*time.Second)) {
		r.renew(t, now)
	}
	k := r.looker.Look(t.known)
	r.result.Looks++
	switch k.Stack {
	case threaddump.Running:
		t.runningAt(k.Runs, k.MonoNanos)
	case threaddump.Moved:
		r.result.Moved++
		t.unseen(k.Runs, k.MonoNanos, "moved")
	case threaddump.Unread:
		r.result.Unread++
		t.unseen(threaddump.Runs{}, now, "")
	default:
		t.blockedAt(r.place(t, &k), k.Runs, k.MonoNanos)
	}
}

// renew reads a thread's name again, and writes it if it has changed.
func (r *Recorder) renew(t *thread, now int64) {
	t.renewed = now
	name, java, id := t.known.Name, t.known.Java, t.known.ID
	r.looker.Renew(t.known)
	if t.known.Java != java {
		delete(r.byJava, java)
		r.noteJava(t)
	}
	if t.known.Name != name || t.known.ID != id {
		r.writeThread(t)
	}
}

func (r *Recorder) noteJava(t *thread) {
	if t.known.Java != 0 {
		r.byJava[t.known.Java] = t
	}
}

func (r *Recorder) writeThread(t *thread) {
	k := t.known
	r.out.Thread(&wall.Thread{Number: t.number, TID: k.TID, NID: k.NID, JavaID: k.ID, BornMonoNanos: t.met, Name: k.Name})
}

// youth is how long after its start a thread may become a Java thread: HotSpot adds it to the list of Java threads only
// after it has been scheduled.
const youth = int64(3 * time.Second)

// list lists the threads. It begins to record new ones, and ends the lives of those that are gone. It returns an error
// if no thread can be read.
func (r *Recorder) list(now int64) error {
	r.listed = now
	tids := r.looker.Threads()
	slices.Sort(tids)
	tids = tids[:min(len(tids), threaddump.MaxThreads)]
	isNew := func(tid int) bool { return r.byTID[tid] == nil }
	isYoung := func(t *thread) bool { return t.known.Java == 0 && now-t.met < youth }
	if slices.ContainsFunc(tids, isNew) || slices.ContainsFunc(r.threads, isYoung) {
		// HotSpot frees a list of threads when it has a new one. If it was freed while it was read, the next list will do.
		if err := r.looker.ReadJavaThreads(); err != nil && len(r.threads) == 0 {
			return err
		}
	}
	for _, t := range slices.Clone(r.threads) {
		if _, there := slices.BinarySearch(tids, t.known.TID); !there {
			r.ended(t, now)
		} else if isYoung(t) {
			r.renew(t, now)
		}
	}
	var failed error
	for _, tid := range tids {
		if isNew(tid) {
			if err := r.meet(tid); err != nil && !errors.Is(err, threaddump.ErrEnded) {
				failed = err
			}
		}
	}
	slices.SortFunc(r.threads, func(a, b *thread) int { return cmp.Compare(a.known.TID, b.known.TID) })
	if len(r.threads) == 0 {
		return failed
	}
	return nil
}

// meet begins to record a thread.
func (r *Recorder) meet(tid int) error {
	known, err := r.looker.Meet(tid)
	if err != nil {
		return err
	}
	runs, err := r.looker.Runs(known)
	now := monotonic.Nanos()
	if err != nil {
		r.looker.Forget(known)
		return err
	}
	r.result.Threads++
	t := &thread{number: r.result.Threads, known: known, met: now, renewed: now}
	t.life = life{thread: t.number, write: r.out.Spell, at: now, runs: runs}
	r.threads = append(r.threads, t)
	r.byTID[tid] = t
	r.noteJava(t)
	r.writeThread(t)
	return nil
}

// ended writes the end of a thread that is gone.
func (r *Recorder) ended(t *thread, now int64) {
	t.unseen(threaddump.Runs{}, now, "")
	t.end()
	r.out.Ended(wall.Ended{Thread: t.number, MonoNanos: max(now, t.at)})
	r.clamped += t.clamped()
	r.looker.Forget(t.known)
	delete(r.byTID, t.known.TID)
	if r.byJava[t.known.Java] == t {
		delete(r.byJava, t.known.Java)
	}
	r.threads = slices.DeleteFunc(r.threads, func(o *thread) bool { return o == t })
}

// openAfter is how long a spell must have lasted before it is written as open.
const openAfter = int64(5 * time.Second)

// everySecond writes what must not be lost if gasm is killed, and forgets what may be outdated.
func (r *Recorder) everySecond(now int64) {
	for _, t := range r.threads {
		if s := &t.spell; s.State != 0 && t.opened != s.FromMonoNanos && now-s.FromMonoNanos > openAfter {
			r.out.Open(s)
			t.opened = s.FromMonoNanos
		}
	}
	if !r.begun && !slices.ContainsFunc(r.threads, func(t *thread) bool { return t.phase == unknown }) {
		r.begun = true
		r.budget.begin()
		r.result.First, r.result.FirstTook = threadCPU(), time.Duration(now-r.from)
	}
	r.out.Now(now)
	if err := r.out.Flush(); r.result.Write == nil {
		r.result.Write = err
	}
	r.looker.ForgetFiles()
	clear(r.taken)
}

// lastTime is an upper bound for the processor time of the last round.
const lastTime = 200 * time.Millisecond

// lastRound looks at all threads once more.
func (r *Recorder) lastRound() {
	r.budget.saved = max(r.budget.saved, lastTime)
	for _, t := range slices.Clone(r.threads) {
		r.ask(t)
	}
}

// finish ends all lives and writes the account.
func (r *Recorder) finish() {
	now := monotonic.Nanos()
	for _, t := range r.threads {
		runs, _ := r.looker.Runs(t.known) // not Known after an error
		if t.phase == blocked && runs.Known && runs.Count == t.runs.Count {
			t.still(now)
		} else {
			t.unseen(runs, now, "")
		}
		t.end()
		r.clamped += t.clamped()
	}
	r.out.End(wall.End{ToMonoNanos: now, Looks: r.result.Looks, Moved: r.result.Moved, Unread: r.result.Unread,
		Left:    r.result.Left,
		Threads: int64(r.result.Threads), Clamped: r.clamped})
	if err := r.out.Flush(); r.result.Write == nil {
		r.result.Write = err
	}
	r.result.CPU = threadCPU()
}
