// Package jvmevents has JVMs record what happens in them while gasm samples them: garbage collections, safepoints,
// locks, allocations and more.
//
// A [Choice] says which kinds of events are recorded, and where each kind comes from. [Events] switches the sources on
// in each JVM that is found while it runs, and off again. Found, End and Take call each source in turn:
//
//   - HotSpot's log, in a JVM that was attached to, and recordings of Flight Recorder are switched on through the JVM's
//     attach socket (recorder.go);
//   - HotSpot's USDT probes are set from outside (usdt.go).
//
// The JVMs of a command get an option for HotSpot's log when they start; package record adds it. Flight Recorder could be
// started by an option, too. But then JDK 11 to 16 print on the program's stdout that a recording has started. The option
// -Xlog:jfr+startup turns that message off in JDK 17 and newer, but JDK 16 and older do not start with it.
package jvmevents

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/sampler"
)

// Options say what is recorded, and where it is saved and reported.
type Options struct {
	Choice   Choice
	ByOption bool   // the JVMs have the log as an option of theirs, so it is not switched on
	Dir      string // of the capture
	Patience *patience.Patience
	Problem  func(error) // called when something is lost
	// Placed returns a function that has the code at addresses of a process copied, as if there were samples there.
	Placed func(pid int) func(pc uint64, monoNanos int64)
}

// path returns the path of a file in the capture.
func (o *Options) path(file string) string { return filepath.Join(o.Dir, file) }

// Events records events of JVMs that run, from outside. A nil Events records none.
type Events struct {
	o    Options
	stop chan struct{} // closed by End

	mu        sync.Mutex
	ended     bool
	recorders []*recorder
	jvms      map[int]*foundJVM // by process id
	usdt      usdtRecorders
}

// A foundJVM is what is known of a JVM that was found, whether events of it are recorded or not.
type foundJVM struct {
	process *foreign.Process // while its threads are looked up; nil where they have the same ids
	ownPID  int              // the process id that the JVM has itself
	threads map[int]int      // the ids that threads have themselves, by the sampler's ids; nil where they are the same
}

// newFoundJVM finds out which id a process has itself: its id in the innermost PID namespace that it is in. Where that
// can't be found out, it is the same.
func newFoundJVM(pid int) *foundJVM {
	j := &foundJVM{ownPID: pid}
	p, err := foreign.Open(pid)
	if err != nil {
		return j
	}
	if status, err := p.Status(); err == nil && status.OwnPID != pid {
		j.process, j.ownPID, j.threads = p, status.OwnPID, map[int]int{}
		return j
	}
	p.Close()
	return j
}

// ownTID returns the id that a thread has itself. Where that can't be found out, it is the same.
func (j *foundJVM) ownTID(tid int) int {
	own, err := j.process.OwnTID(tid)
	if err != nil {
		return tid
	}
	return own
}

// New returns Events that have begun: the sampler is at work, and no JVM of a command runs yet.
func New(o Options) *Events {
	if o.ByOption {
		o.Choice.Log = nil
	}
	e := &Events{o: o, stop: make(chan struct{}), jvms: map[int]*foundJVM{}}
	e.usdt.begin(&e.o, e.stop)
	return e
}

// Expect has the sampler report a JVM of a command soon after it has started: events before the probes are set are
// missed.
func (e *Events) Expect(s any) { e.usdt.expect(s) }

// Found is called when a JVM is found: it has mapped libjvm.so, and may not have begun to run, or gasm attaches to it.
// It may be called more than once for each JVM, from any goroutine, and returns at once. The JVM's files are used until
// ctx is done.
func (e *Events) Found(ctx context.Context, pid int) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.jvms[pid] != nil {
		return
	}
	j := newFoundJVM(pid)
	e.jvms[pid] = j
	e.usdt.found(ctx, pid)
	if len(e.o.Choice.Log)+len(e.o.Choice.JFR) > 0 {
		r := newRecorder(pid, j.ownPID, &e.o)
		e.recorders = append(e.recorders, r)
		begin, cancel := context.WithCancel(e.o.Patience.Begin(ctx))
		go func() {
			select {
			case <-e.stop:
			case <-r.begun:
			}
			cancel()
		}()
		go r.start(begin, e.o.Patience.Reach(ctx))
	}
}

// AwaitBegun waits until all JVMs that were found have begun to record events, or stop is closed.
func (e *Events) AwaitBegun(stop <-chan struct{}) {
	e.mu.Lock()
	recorders := e.recorders
	e.mu.Unlock()
	for _, r := range recorders {
		done := e.o.Patience.Waiting(r.pid, "begin to log and record events")
		select {
		case <-r.begun:
		case <-stop:
			done()
			return
		}
		done()
	}
	e.usdt.awaitBegun(stop)
}

// Sampled is called with each sample of a JVM, where the sampler delivers samples while they are taken.
func (e *Events) Sampled(s *sampler.Sample) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jvms[s.PID]
	if j == nil || j.threads == nil || s.TID <= 0 || j.threads[s.TID] != 0 || e.o.Choice.None() || len(j.threads) >= maxOwnIDs {
		return
	}
	j.threads[s.TID] = j.ownTID(s.TID)
}

// maxOwnIDs is an upper bound for the threads of a JVM. The ids of further ones are not looked up.
const maxOwnIDs = 1 << 16

// endTime is how long a JVM may take to end what it was told to do. It writes its recording meanwhile.
const endTime = 20 * time.Second

// End is called when the sampling has ended; the JVMs may run on. When it returns, all that was
// switched on in them is off again, except in JVMs that did not answer, which are reported as problems.
// It does so even if ctx is done, because a JVM must not be left recording. A second call does nothing.
func (e *Events) End(ctx context.Context) {
	if e == nil {
		return
	}
	e.mu.Lock()
	ended := e.ended
	e.ended = true
	recorders := e.recorders
	e.mu.Unlock()
	if ended {
		return
	}
	close(e.stop)
	ctx = context.WithoutCancel(ctx)
	tell, cancel := context.WithTimeoutCause(e.o.Patience.Tell(ctx), endTime, fmt.Errorf("it did not within %s", endTime))
	defer cancel()
	e.recorders = e.endRecorders(tell, recorders)
	e.usdt.await(e.o.Patience.Reach(ctx))
	for _, r := range e.recorders {
		for _, err := range r.problems {
			e.o.Problem(err)
		}
	}
}

// closeFound ends the use of the processes, when no further samples come.
func (e *Events) closeFound() {
	for _, j := range e.jvms {
		if j.process != nil {
			j.process.Close()
		}
	}
}

// endRecorders has JVMs end what they do. It returns the recorders whose JVMs have answered to what they were told
// before.
func (e *Events) endRecorders(ctx context.Context, recorders []*recorder) (answered []*recorder) {
	ended := make([]bool, len(recorders))
	var wg sync.WaitGroup
	for i, r := range recorders {
		wg.Go(func() {
			defer e.o.Patience.Waiting(r.pid, "end its log and its recording")()
			ended[i] = r.end(ctx)
		})
	}
	wg.Wait()
	for i, r := range recorders {
		if ended[i] {
			answered = append(answered, r)
			continue
		}
		e.o.Problem(fmt.Errorf("JVM %d has not answered, and may begin to log or record events: `gasm attach` ends that as soon as it answers", r.pid))
	}
	return answered
}

// Discard removes what JVMs have written, when there is to be no capture. It is called after End.
func (e *Events) Discard() {
	if e == nil {
		return
	}
	defer e.closeFound()
	for _, r := range e.recorders {
		r.discard()
	}
}

// Take completes the files of events in the capture, and notes in each JVM which files are its. The
// recording began at startedMonoNanos. The notes say what could not be had.
func (e *Events) Take(jvms []capture.JVM, startedMonoNanos int64) (notes []string) {
	defer e.closeFound()
	byPID := map[int]*capture.JVM{}
	for i := range jvms {
		byPID[jvms[i].PID] = &jvms[i]
	}
	for pid, f := range e.jvms {
		j := byPID[pid]
		if j == nil || f.threads == nil || e.o.Choice.None() {
			continue
		}
		j.OwnPID, j.Threads = f.ownPID, map[int]int{}
		for tid, own := range f.threads {
			j.Threads[own] = tid
		}
	}
	if len(e.o.Choice.JFR) > 0 && runtime.GOOS != "linux" {
		notes = append(notes, "no events from Flight Recorder: gasm can have JVMs record on Linux alone; report --jfr FILE reads a recording of your own")
	}
	for _, r := range e.recorders {
		j := byPID[r.pid]
		if j == nil {
			j = &capture.JVM{PID: r.pid} // it is not in the capture
		}
		notes = append(notes, r.take(j, startedMonoNanos)...)
	}
	return append(notes, e.usdt.take(byPID, startedMonoNanos)...)
}
