package follow

import (
	"cmp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Options say how a JVM is followed.
type Options struct {
	// Log is the path of the log that is written. The file must not exist.
	Log string
	// StartMonoNanos and StartWallMillis are the moment from which the stamps in the log
	// count, on two clocks. It is not behind the JVM's start.
	StartMonoNanos, StartWallMillis int64
	// Command is the main class or jar and its arguments, as the property
	// sun.java.command has them; may be "".
	Command string
	// ClassPath is the JVM's class path; "" when nobody knows it.
	ClassPath string
	// Launched tells that the JVM has just been started. Then HotSpot may still be
	// setting itself up, and is waited for.
	Launched bool
	// All has every method copied as soon as it is seen, for want of samples while the JVM
	// runs.
	All bool

	budget time.Duration // for a test, in place of budgetStart; below 0 there are excerpts alone
}

// A Follower follows the code of one JVM.
type Follower struct {
	pid  int
	o    Options
	log  *logWriter
	stop chan struct{}
	done chan struct{}
	wake chan struct{} // has one element while pending is not empty
	// switched has one element when paused was changed.
	switched chan struct{}
	paused   atomic.Bool

	mu      sync.Mutex
	pending []sample // samples that the Follower has not looked at yet
	known   int      // how many methods were seen so far

	// What follows belongs to the goroutine that runs.
	vm       *vmstructs.VM
	cache    *codecache.Cache
	copier   *nmethod.Copier
	forgetAt time.Time // when the copier must forget what it read of names
	seen     []sample  // the memory for pending's next elements
	state    map[*codecache.Blob]copyState
	excerpts map[*codecache.Blob]*excerpt // of the methods that are still to be copied
	budget   budget                       // for copies
	pollTook time.Duration                // the last poll
	gone     bool                         // the JVM has ended, or can't be read any more
	result   Result
}

// A sample is an address at which the JVM was sampled, and the time on CLOCK_MONOTONIC.
type sample struct {
	pc        uint64
	monoNanos int64
}

// A copyState says whether a method was copied.
type copyState uint8

const (
	copied copyState = iota + 1
	failed
	excerpted // it is one of Follower.excerpts
)

// A Result says what became of a JVM's code.
type Result struct {
	// Methods is how many methods were seen in the code cache, and Copied those of them
	// that had samples and were copied.
	Methods, Copied int
	// Excerpts counts those copied methods that have lines and inlined methods at sampled
	// instructions alone, because they or their JVM were gone before the rest was read.
	Excerpts int
	// Late counts the methods that had samples and were gone, alone or with their JVM,
	// before all of them was copied. Missed counts all others that could not be copied, or
	// not with all of their debug info.
	Late, Missed int
	// Samples counts those that the Follower was told of, and Ambiguous those of them at
	// addresses that changed their owner between the two polls around them.
	Samples, Ambiguous int
	// NoFrames is why the methods have machine code and names, but neither lines nor inlined
	// methods; nil where they have these.
	NoFrames error
	// Why is the reason for the first method that was missed, nil without one.
	Why error
	// Unread is why the code cache could not be read at all, or not any more while the JVM
	// lived; nil otherwise.
	Unread error
	// Disk is the error that ended the writing, nil without one.
	Disk error
	// SafepointsOnly tells that methods have lines, and the JVM runs without DebugNonSafepoints, so that they are
	// those of the next safepoint.
	SafepointsOnly bool
}

// Start begins to follow a process. When it returns without an error, all methods that
// the JVM had are known, unless it was just launched.
//
// The error says why the process can't be followed; see vmstructs.Open for its types.
func Start(pid int, o Options) (*Follower, error) {
	f := &Follower{pid: pid, o: o, stop: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		switched: make(chan struct{}, 1), state: map[*codecache.Blob]copyState{}, excerpts: map[*codecache.Blob]*excerpt{}, budget: newBudget(cmp.Or(o.budget, budgetStart))}
	if !o.Launched {
		if err := f.open(); err != nil {
			return nil, err
		}
	}
	var err error
	if f.log, err = newLogWriter(pid, o); err != nil {
		return nil, err
	}
	if !o.Launched {
		f.began()
	}
	go f.run()
	return f, nil
}

// open finds HotSpot's code cache.
func (f *Follower) open() (err error) {
	if f.vm == nil {
		if f.vm, err = vmstructs.Open(f.pid); err != nil {
			return err
		}
	}
	if f.copier, err = nmethod.NewCopier(f.vm); err != nil {
		return err
	}
	if f.cache, err = codecache.New(f.vm, f.copier.MethodName); err != nil {
		return err
	}
	f.copier.SetNames(nmethod.Names{Function: nmethod.FunctionNames(f.pid), Stub: f.stubName})
	f.result.NoFrames = f.copier.Frames()
	return nil
}

// stubName gives the name of the stub at an address, which a call leads to; "" without one.
func (f *Follower) stubName(at uint64) string {
	b := f.cache.Find(at)
	if b == nil || b.Kind != printassembly.Stub {
		return ""
	}
	_, name, _ := strings.Cut(b.Name, "::")
	return name
}

// began is called when HotSpot was found. It looks at all code that there is.
func (f *Follower) began() {
	f.log.head(f.vm)
	f.poll()
	flags, err := f.vm.Flags(debugInfoFlag)
	f.result.SafepointsOnly = err == nil && f.result.NoFrames == nil && flags[debugInfoFlag].Size > 0 && flags[debugInfoFlag].Value == 0
}

// debugInfoFlag has HotSpot note the bytecode of every instruction.
const debugInfoFlag = "DebugNonSafepoints"

// Sampled tells that a sample was at an address. Any goroutine may call it; it does not
// wait.
func (f *Follower) Sampled(pc uint64, monoNanos int64) {
	f.mu.Lock()
	if len(f.pending) < maxPending {
		f.pending = append(f.pending, sample{pc, monoNanos})
	}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// maxPending is more than a second of samples of the largest machine has. What is beyond
// was sampled while the Follower could not run.
const maxPending = 1 << 17

// Methods is how many methods were seen so far. Any goroutine may call it.
func (f *Follower) Methods() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known
}

// Pause has the Follower leave the JVM alone until Resume. The samples that it is told of are
// still looked at: they were taken before.
func (f *Follower) Pause() { f.turn(true) }

// Resume has the Follower look at the code cache again, at once and from then on. All methods
// that came since Pause count as there since then.
func (f *Follower) Resume() { f.turn(false) }

func (f *Follower) turn(paused bool) {
	f.paused.Store(paused)
	select {
	case f.switched <- struct{}{}:
	default:
	}
}

// Stop ends the following. All samples that were told of before are looked at first.
func (f *Follower) Stop() Result {
	close(f.stop)
	<-f.done
	return f.result
}

// The pauses between two polls. A sample ends a pause, so a long one is for a JVM that
// sleeps, which is to cost next to nothing. Without samples nothing ends it.
const (
	shortestPause      = 10 * time.Millisecond
	longestPause       = 2560 * time.Millisecond
	longestWithoutWake = 320 * time.Millisecond
)

// run polls again and again, until it is stopped or the JVM has ended.
func (f *Follower) run() {
	defer close(f.done)
	defer f.end()
	if f.o.Launched && !f.await() {
		return
	}
	longest := longestPause
	if f.o.All {
		longest = longestWithoutWake
	}
	timer := time.NewTimer(shortestPause)
	for pause := shortestPause; !f.gone; {
		select {
		case <-f.stop:
			f.look()
			f.completeLast()
			return
		case <-f.switched:
			f.poll() // so that what comes in a pause came in the pause
			if timer.Stop(); !f.paused.Load() {
				pause = shortestPause
				timer.Reset(pause)
			}
		case <-f.wake:
			if f.look() && !f.paused.Load() {
				pause = shortestPause
				timer.Reset(pause)
			}
		case <-timer.C:
			if pause = min(2*pause, longest); f.poll() {
				pause = shortestPause
			}
			if f.completeSome(); len(f.excerpts) > 0 {
				pause = min(pause, longestWithoutWake)
			}
			timer.Reset(pause)
		}
		f.log.flush()
		f.rest()
	}
	<-f.stop
	f.look() // what was sampled last is counted as late
	f.completeLast()
}

// pollShare is which part of a processor polls take at most, 1 of so many, while the rest
// that this needs is below longestRest.
const (
	pollShare   = 25
	longestRest = 40 * time.Millisecond
)

// rest waits after a poll. A JVM that compiles all the time needs its processors itself,
// and its larger code cache makes polls slow.
func (f *Follower) rest() {
	rest := min(pollShare*f.pollTook, longestRest)
	f.pollTook = 0
	if rest < shortestPause {
		return
	}
	select {
	case <-f.stop:
	case <-time.After(rest):
	}
}

// await waits until HotSpot has set up its code cache. It is false where the Follower was
// stopped before.
func (f *Follower) await() bool {
	for {
		err := f.open()
		if err == nil {
			f.began()
			return true
		}
		if isGone(err) {
			f.gone = true
			f.log.head(nil)
			<-f.stop
			return false
		}
		select {
		case <-f.stop:
			f.log.head(nil)
			f.result.Unread = err
			return false
		case <-time.After(shortestPause):
		}
	}
}

// poll finds out which blobs came and went, and writes down those that came. It tells
// whether there were any.
func (f *Follower) poll() (news bool) {
	if f.gone {
		return false
	}
	began := time.Now()
	changes, err := f.cache.Poll(monotonic.Nanos())
	f.pollTook = time.Since(began)
	f.add(changes.Added)
	if err != nil {
		f.gone = true
		if !isGone(err) && isJVM(f.pid) {
			f.result.Unread = err
		}
	}
	for _, b := range changes.Gone {
		f.writeExcerpt(b)
		delete(f.state, b)
	}
	return len(changes.Added)+len(changes.Gone) > 0
}

// add writes down the blobs that came.
func (f *Follower) add(blobs []*codecache.Blob) {
	methods := 0
	for _, b := range blobs {
		uptime := f.uptimeMillis(b.NotBeforeMonoNanos)
		if b.Method != nil {
			b.Method.UptimeMillis = uptime
			methods++
		}
		f.log.text = b.AppendTo(f.log.text, uptime)
		if f.o.All && b.Method != nil {
			f.state[b] = f.take(b)
		}
	}
	f.result.Methods += methods
	f.mu.Lock()
	f.known = f.result.Methods
	f.mu.Unlock()
}

// uptimeMillis translates a time into a stamp of the log. What was there before the
// Follower was, 0, is taken to have been there from the JVM's start on.
func (f *Follower) uptimeMillis(mono int64) int64 {
	return max(0, (mono-f.o.StartMonoNanos)/int64(time.Millisecond))
}

// end completes the log.
func (f *Follower) end() {
	f.log.close()
	f.result.Disk = f.log.failure
}
