package follow

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Options say how a JVM is followed.
type Options struct {
	// Log is the path of the log to write. The file must not exist.
	Log string
	// StartMonoNanos and StartWallMillis are the same moment on two clocks. This moment must not be later than the
	// JVM's start. The stamps in the log are relative to it.
	StartMonoNanos, StartWallMillis int64
	// Command is the main class or jar and its arguments, as in the property sun.java.command. It may be empty.
	Command string
	// ClassPath is the JVM's class path. It is empty if the class path is unknown.
	ClassPath string
	// Launched is true if the JVM has just been started. HotSpot may then still be initializing, and the Follower waits
	// for it.
	Launched bool
	// All makes the Follower copy every method as soon as it finds it in the code cache. Then it needs no samples.
	All bool
	// SwitchDebugInfo switches the flag DebugNonSafepoints on in the JVM, and reports whether it was off before. The
	// Follower calls it as soon as it can read the JVM's flags, unless the flag is on already, or the JVM's user has
	// set it. If it is nil, the flag stays as it is.
	SwitchDebugInfo func(*vmstructs.VM) (switched bool, err error)
	// JVMs is shared with other readers of the same JVMs, so that each JVM is polled only once. It may be nil.
	JVMs *shared.JVMs
	// ShortestPause is the time after which the JVM is polled again while it compiles; 0 means 10 ms.
	ShortestPause time.Duration
	// NoThreadNames is true if the names of the JVM's threads are not to be written to the log.
	NoThreadNames bool
	// Written is called from the Follower's goroutine with each piece of text that is written to the log. A piece
	// consists of whole lines, and no method is divided between two pieces. text is valid until Written returns.
	// Written may be nil.
	Written func(text []byte)

	budget time.Duration // for a test, in place of budgetStart; if negative, all copies are excerpts
}

// A Follower follows the code of one JVM.
type Follower struct {
	pid  int
	o    Options
	log  *logWriter
	stop chan struct{}
	done chan struct{}
	wake chan struct{} // has one element while the field pending is not empty
	// Pause and Resume put an element into switched when they have changed paused. This wakes run.
	switched chan struct{}
	paused   atomic.Bool

	mu      sync.Mutex
	pending []sample // samples that the method look has not handled yet
	known   int      // number of methods that were found so far

	// Only the goroutine that executes run uses the fields below.
	jvm      *shared.View // nil until HotSpot has made its code cache
	seen     []sample     // the samples that look is handling; look swaps it with pending
	state    map[*codecache.Blob]copyState
	excerpts map[*codecache.Blob]*excerpt // by method: the copy that is not complete yet
	budget   budget                       // CPU time for copies
	names    *names                       // nil before the code cache is found, and with NoThreadNames
	pollTook time.Duration                // duration of the last poll
	gone     bool                         // the JVM has ended, or can't be read any more
	result   Result
}

// A sample is a program counter and a time (CLOCK_MONOTONIC). If caller is false, a sample was taken at that pc. If
// caller is true, the code at the pc had called the code in which a sample was taken.
type sample struct {
	pc        uint64
	monoNanos int64
	caller    bool
}

// A copyState says whether a method was copied. The zero value means that no copy was attempted yet.
type copyState uint8

const (
	copied copyState = iota + 1
	failed
	excerpted // copied in part; the excerpt is in Follower.excerpts
)

// A Result says how much of a JVM's code was copied, and why the rest was not.
type Result struct {
	// Methods is the number of methods that were found in the code cache. Copied is the number of methods that had
	// samples and were copied.
	Methods, Copied int
	// Excerpts counts the methods that were copied only as excerpts, with lines and inlined methods for the sampled
	// instructions. The rest of their debug info could not be read in time, usually because the method or the JVM was
	// gone.
	Excerpts int
	// Late counts the sampled methods that could not be copied because the method or the JVM was gone too early. Missed
	// counts the methods that could not be copied for another reason, or whose debug info could not be read completely.
	Late, Missed int
	// Samples counts the samples that the Follower has looked at. Ambiguous counts those among them whose address
	// belonged to one blob at the poll before the sample, and to another blob at the poll after it.
	Samples, Ambiguous int
	// NoFrames is set if the log has the machine code and names of methods, but neither lines nor inlined methods. It
	// says why these are missing.
	NoFrames error
	// Why says why the first missed method could not be copied. It is nil if no method was missed.
	Why error
	// Unread is set if the code cache could not be read at all, or if reading it failed later although the JVM was
	// still running. It says why.
	Unread error
	// EndedEarly is true if the JVM ended too early for the Follower: before it had found the data that describes the
	// code, or before it had read the code cache for the first time. The samples of such a JVM have no code, or no
	// lines.
	EndedEarly bool
	// Disk is the error after which the Follower wrote nothing more to the log. It is nil if there was no error.
	Disk error
	// SafepointsOnly is true if methods have lines, but some of them only at safepoints, because the JVM was started
	// without -XX:+DebugNonSafepoints.
	SafepointsOnly bool
	// DetailedFromMillis is the JVM's uptime in milliseconds, at least 1, at which Options.SwitchDebugInfo switched
	// DebugNonSafepoints on. It is 0 if that function was not called, did not switch the flag, or failed. NotSwitched
	// is the error of the function.
	DetailedFromMillis int64
	NotSwitched        error
}

// Start begins to follow a process. If the JVM was already running (o.Launched is false), the Follower knows all of
// its methods when Start returns.
//
// The error says why the process can't be followed (see vmstructs.Open for its types), or why the log can't be written.
func Start(pid int, o Options) (*Follower, error) {
	f := &Follower{pid: pid, o: o, stop: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		switched: make(chan struct{}, 1), state: map[*codecache.Blob]copyState{},
		excerpts: map[*codecache.Blob]*excerpt{}, budget: newBudget(cmp.Or(o.budget, budgetStart))}
	f.o.ShortestPause = cmp.Or(o.ShortestPause, shortestPause)
	if o.JVMs == nil {
		f.o.JVMs = shared.NewJVMs()
	}
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
	if f.jvm, err = f.o.JVMs.Open(f.pid); err != nil {
		return err
	}
	names := nmethod.Names{Function: nmethod.FunctionNames(f.pid), Stub: f.stubName}
	f.jvm.Copy(func(c *nmethod.Copier) {
		c.SetNames(names)
		f.result.NoFrames = c.Frames()
	})
	if isGone(f.result.NoFrames) {
		f.result.NoFrames, f.result.EndedEarly = nil, true
	}
	return nil
}

// stubName returns the name of the stub at an address, without the prefix "StubRoutines::". It returns "" if there is
// no stub.
func (f *Follower) stubName(at uint64) string {
	b := f.jvm.Cache.Find(at)
	if b == nil || b.Kind != printassembly.Stub {
		return ""
	}
	_, name, _ := strings.Cut(b.Name, "::")
	return name
}

// began is called when HotSpot's code cache has been found. It writes the head of the log, and finds all code that is
// already there.
func (f *Follower) began() {
	flags, err := f.jvm.VM.Flags(slices.Concat([]string{debugInfoFlag, framePointersFlag}, inliningFlags)...)
	if err == nil {
		f.readDebugInfoFlag(flags)
	}
	f.log.head(f.jvm.VM, flags[framePointersFlag].Size > 0 && flags[framePointersFlag].Value != 0, inliningLimits(flags))
	if !f.o.NoThreadNames {
		f.names = newNames(f.pid, f.jvm.VM)
	}
	f.poll(always)
	if f.gone && f.result.Unread == nil {
		f.result.EndedEarly = true
	}
}

// readDebugInfoFlag finds out for which methods HotSpot records the bytecode of every instruction. If
// Options.SwitchDebugInfo is set, readDebugInfoFlag calls it to have HotSpot do so for all methods from then on.
func (f *Follower) readDebugInfoFlag(flags map[string]vmstructs.Flag) {
	flag, known := flags[debugInfoFlag]
	if f.result.NoFrames != nil || !known {
		return
	}
	if f.o.SwitchDebugInfo != nil && flag.Value == 0 && !flag.Given {
		switched, err := f.o.SwitchDebugInfo(f.jvm.VM)
		if f.result.NotSwitched = err; switched && err == nil {
			f.result.DetailedFromMillis = max(1, f.uptimeMillis(monotonic.Nanos()))
			return
		}
	}
	// If gasm or another profiler has set the flag while the JVM ran, some code may have been compiled before that.
	// Such code has records only at safepoints.
	f.result.SafepointsOnly = flag.Value == 0 || !flag.Given
}

// inliningFlags are the flags that limit inlining. Which of them a JVM has differs by release.
var inliningFlags = []string{"FreqInlineSize", "MaxInlineSize", "InlineSmallCode", "MaxInlineLevel",
	"MaxRecursiveInlineLevel", "MinInliningThreshold",
	"NodeCountInliningCutoff", "DesiredMethodLimit", "C1MaxInlineSize", "C1MaxInlineLevel", "C1MaxRecursiveInlineLevel"}

// inliningLimits returns the values of those inliningFlags that the JVM has.
func inliningLimits(flags map[string]vmstructs.Flag) map[string]int64 {
	limits := map[string]int64{}
	for _, name := range inliningFlags {
		if flag, ok := flags[name]; ok && flag.Type != "double" {
			limits[name] = int64(flag.Value)
		}
	}
	return limits
}

// framePointersFlag is the flag that makes Java code keep frame pointers.
const framePointersFlag = "PreserveFramePointer"

// debugInfoFlag is the flag that makes HotSpot record the bytecode of every instruction, not only of safepoints.
const debugInfoFlag = "DebugNonSafepoints"

// Sampled notes that a sample was taken at the address pc. Any goroutine may call Sampled; it does not block.
func (f *Follower) Sampled(pc uint64, monoNanos int64) { f.notice(sample{pc, monoNanos, false}) }

// Called notes that the code at pc had called the code in which a sample was taken at the time monoNanos. The method
// that contains pc is copied as if it had been sampled. Any goroutine may call Called; it does not block.
func (f *Follower) Called(pc uint64, monoNanos int64) { f.notice(sample{pc, monoNanos, true}) }

func (f *Follower) notice(s sample) {
	f.mu.Lock()
	if len(f.pending) < maxPending {
		f.pending = append(f.pending, s)
	}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// maxPending limits the number of pending samples. Further samples are dropped. Even the largest machine takes fewer
// samples in a second, so the limit is reached only if the Follower's goroutine did not run for more than a second.
const maxPending = 1 << 17

// Methods returns the number of methods that were found so far. Any goroutine may call it.
func (f *Follower) Methods() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known
}

// Pause stops polling the JVM until Resume. The Follower still looks at samples that come in, because they were taken
// before the pause.
func (f *Follower) Pause() { f.turn(true) }

// Resume polls the code cache at once, and regularly after that. In the log, each method that was installed during the
// pause has the time at which the pause began.
func (f *Follower) Resume() { f.turn(false) }

func (f *Follower) turn(paused bool) {
	f.paused.Store(paused)
	select {
	case f.switched <- struct{}{}:
	default:
	}
}

// Stop handles the samples that are still pending, and ends the Follower.
func (f *Follower) Stop() Result {
	close(f.stop)
	<-f.done
	return f.result
}

// The limits of the pause between two polls. A sample ends a pause at once. So pauses get long only while the JVM runs
// no code, and then polls should cost next to nothing. If no samples are taken (Options.All), nothing ends a pause, so
// no pause is longer than longestWithoutWake. The same holds while methods with excerpts wait to be copied completely.
const (
	shortestPause      = 10 * time.Millisecond
	longestPause       = 2560 * time.Millisecond
	longestWithoutWake = 320 * time.Millisecond
)

// run polls until it is stopped or the JVM has ended.
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
	shortest := f.o.ShortestPause
	timer, set := time.NewTimer(shortest), monotonic.Nanos() // set is when reset was called last
	reset := func(pause time.Duration) {
		set = monotonic.Nanos()
		timer.Reset(pause)
	}
	for pause := shortest; !f.gone; {
		select {
		case <-f.stop:
			f.look(always)
			f.completeLast()
			f.readNames(true)
			return
		case <-f.switched:
			f.poll(always) // gives code that was installed during the pause a time within the pause
			if timer.Stop(); !f.paused.Load() {
				pause = shortest
				reset(pause)
			}
		case <-f.wake: // the last call of look may have seen the samples already
			if f.look(0) && !f.paused.Load() {
				pause = shortest
				reset(pause)
			}
		case <-timer.C:
			if pause = min(2*pause, longest); f.poll(set) {
				pause = shortest
			}
			if f.completeSome(); len(f.excerpts) > 0 {
				pause = min(pause, longestWithoutWake)
			}
			reset(monotonic.Until(pause))
		}
		f.readNames(false)
		f.log.flush()
		f.rest()
	}
	<-f.stop
	f.look(always) // look counts methods that it sees here for the first time as late
	f.completeLast()
}

// Polls may take at most 1/pollShare of a CPU. After a slow poll, the Follower rests for as long as that requires, but
// no longer than longestRest.
const (
	pollShare   = 25
	longestRest = 40 * time.Millisecond
)

// rest waits after a slow poll, to leave the CPUs to the JVM. Polls are slow if the code cache is large. It is large in
// a JVM that compiles much, and such a JVM needs its CPUs itself.
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

// await waits until HotSpot has set up its code cache. It returns false if the JVM has ended or the Follower was
// stopped before that.
func (f *Follower) await() bool {
	for {
		err := f.open()
		if err == nil {
			f.began()
			return true
		}
		if isGone(err) {
			f.gone, f.result.EndedEarly = true, true
			f.log.head(nil, false, nil)
			<-f.stop
			return false
		}
		select {
		case <-f.stop:
			f.log.head(nil, false, nil)
			f.result.Unread = err
			return false
		case <-time.After(shortestPause):
		}
	}
}

// always is the argument of poll that makes it read the JVM's memory in any case.
const always = math.MaxInt64

// poll finds the blobs that appeared or disappeared since the last poll, and writes the new ones to the log. It reads
// the JVM's memory only if nobody has done so since the given time. It reports whether it found any such blobs.
func (f *Follower) poll(since int64) (news bool) {
	if f.gone {
		return false
	}
	changes, took, err := f.jvm.Poll(since)
	f.pollTook = took
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

// add writes new blobs to the log. If Options.All is set, it also copies the methods among them.
func (f *Follower) add(blobs []*codecache.Blob) {
	methods := 0
	for _, b := range blobs {
		uptime := f.uptimeMillis(b.NotBeforeMonoNanos)
		if b.Method != nil {
			b.Method.UptimeMillis = uptime
			methods++
		}
		f.log.text = b.AppendTo(f.log.text, uptime, f.uptimeMillis(b.SinceMonoNanos))
		if f.o.All && b.Method != nil {
			f.state[b] = f.take(b)
		}
	}
	f.result.Methods += methods
	f.mu.Lock()
	f.known = f.result.Methods
	f.mu.Unlock()
}

// uptimeMillis converts a time to a stamp of the log. Blobs that were already there when the Follower began have the
// time 0. Their stamp is 0, too, as if they had existed since the JVM's start.
func (f *Follower) uptimeMillis(mono int64) int64 {
	return max(0, (mono-f.o.StartMonoNanos)/int64(time.Millisecond))
}

// end closes the log, and the other things that the Follower has open.
func (f *Follower) end() {
	f.names.close()
	if f.jvm != nil {
		f.jvm.Close()
	}
	f.log.close()
	f.result.Disk = f.log.failure
}
