package wallclock

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/hotspot/wallclock/runcounts"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/wall"
)

// A Recorder records one JVM. Its methods may be called from any goroutine.
type Recorder struct {
	looker   *threaddump.Looker
	pid      int
	out      *wall.Writer
	hertz    int
	budget   budget
	stop     chan struct{}
	once     sync.Once
	done     chan struct{}
	threads  []*thread // the running ones, sorted by id
	byTID    map[int]*thread
	byNID    map[int]*thread // Java threads
	all      []*thread       // the threads that askAll goes through
	todo     []*thread       // threads that lookAll looks at
	turn     int             // index of the thread that is asked first in the next round
	count    int             // number of threads when they were listed last
	again    bool            // since the last listing, a thread has ended, or may have become a Java thread
	listed   int64
	listing  time.Duration // processor time of the last listing
	second   int64         // when everySecond was called last
	from     int64         // when the recording began (CLOCK_MONOTONIC)
	stopped  bool          // the process is stopped
	begun    bool          // each thread was looked at once
	result   Result
	most     int                // the maximum number of threads that are recorded
	many     int                // see manyThreads
	counts   *runcounts.Counts  // nil if threads are asked one by one
	counted  []runcounts.Thread // what counts has returned
	together bool               // counts could be opened
	due      int64              // when counts is asked next
	more     int                // the largest number of threads that were not recorded at the same time
	reopened int64              // number of threads whose files are opened for each look
	clamped  int64
	taken    map[takenKey]taken
	virtual  virtualCounter
}

// A thread is a thread that is being recorded.
type thread struct {
	life
	number   int
	known    *threaddump.Known
	met      int64           // when the thread was found
	renewed  int64           // when the thread's name was read last
	due      int64           // when it is asked next whether it has run
	told     threaddump.Runs // the answer of counts in this round
	looked   bool            // the thread was looked at
	written  bool            // the thread's name was written
	opened   int64           // beginning of the spell that was written as open
	reasons  reasons
	previous wall.Spell // what the last look found, for reuse if the stack is the same
}

// Start begins to record a JVM. If its threads can't be read, the error says why.
func Start(pid int, o Options) (*Recorder, error) {
	looker, err := threaddump.NewLooker(o.JVMs, pid)
	if err != nil {
		return nil, err
	}
	r := &Recorder{looker: looker, pid: pid, hertz: cmp.Or(o.Hertz, DefaultHertz), stop: make(chan struct{}),
		done:  make(chan struct{}),
		byTID: map[int]*thread{}, byNID: map[int]*thread{}, taken: map[takenKey]taken{}}
	now := monotonic.Nanos()
	r.from, r.most, r.many = now, cmp.Or(o.mostThreads, threaddump.MaxThreads), cmp.Or(o.manyThreads, manyThreads)
	r.out = wall.NewWriter(o.Out, wall.Head{PID: pid, Hertz: r.hertz, FromMonoNanos: now})
	if o.MaxSize > 0 {
		r.out.Limit(o.MaxSize)
	}
	began := make(chan error)
	go func() {
		runtime.LockOSThread() // the budget counts the time of this OS thread, which ends with the goroutine
		err := r.list(now)
		r.budget = newBudget(cmp.Or(o.Share, defaultShare),
			func() time.Duration { return looker.Elsewhere() + r.virtual.elsewhere() })
		if err == nil && len(r.threads) == 0 {
			err = errNoThreads
		}
		began <- err
		if err != nil {
			close(r.done)
			return
		}
		r.virtual = newVirtualCounter(pid, o)
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
			r.result.Last = r.budget.used()
			r.lastRound()
			ended = true
		case <-timer.C:
			ended = !r.round()
			// The pauses are random, so that they can't coincide with a rhythm of the program.
			timer.Reset(time.Duration((0.5 + rand.Float64()) * float64(r.period())))
		}
	}
	r.finish()
	if r.result.Last > 0 {
		r.result.Last = r.result.CPU - r.result.Last
	}
}

func (r *Recorder) close() {
	for _, t := range r.threads {
		r.looker.Forget(t.known)
	}
	if r.counts != nil {
		r.counts.Close()
	}
	r.looker.Close()
	r.virtual.close()
}

// period returns the average time between two rounds.
func (r *Recorder) period() time.Duration { return time.Second / time.Duration(r.hertz) }

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
	r.out.Now(now)
	if err := r.out.Flush(); r.result.Write == nil {
		r.result.Write = err
	}
	r.looker.ForgetFiles()
	clear(r.taken)
}

// lastLook limits the processor time of the last round, per thread. If the last round did not look at a thread that has
// run, it would not be known what that thread did since its last look.
const lastLook = 100 * time.Microsecond

// lastRound looks once more at all threads that have run.
func (r *Recorder) lastRound() {
	r.budget.saved = max(r.budget.saved, time.Duration(len(r.threads))*lastLook)
	for _, t := range r.threads {
		t.due = 0
	}
	r.due = 0
	r.askAll(monotonic.Nanos())
}

// finish ends the accounts of all threads, and writes the end of the recording.
func (r *Recorder) finish() {
	now := monotonic.Nanos()
	over := r.looker.State() == threaddump.Ended
	for _, t := range r.threads {
		runs, _ := r.looker.Runs(t.known) // after an error, runs.Known is false
		if over {
			runs = threaddump.Runs{} // unknown, although the kernel still has those of the first thread
		}
		if t.phase == blocked && runs.Known && runs.Count == t.runs.Count {
			t.still(now)
		} else {
			t.unseen(runs, now, "")
		}
		t.end()
		r.clamped += t.clamped()
	}
	r.out.End(wall.End{ToMonoNanos: now, Looks: r.result.Looks, Moved: r.result.Moved, Unread: r.result.Unread,
		Left: r.result.Left, Threads: int64(r.result.Threads), Clamped: r.clamped, Unrecorded: int64(r.more),
		Reopened: r.reopened, Full: r.result.Read == errFull, Together: r.together})
	if err := r.out.Flush(); r.result.Write == nil {
		r.result.Write = err
	}
	r.result.CPU, r.result.Virtual = r.budget.used(), r.virtual.failed
}
