// Package jvmevents makes JVMs record events while gasm samples them: garbage collections, safepoints, locks,
// allocations and more.
//
// A [Choice] says which kinds of events are recorded, and from which source each kind comes. [Events] switches the
// sources on in each running JVM that gasm finds, and off again at the end. The methods Found, End and Take of Events
// call each source in turn:
//
//   - HotSpot's log and recordings of Flight Recorder are switched on by commands over the JVM's attach socket
//     (recorder.go). For the log, gasm does that only in JVMs that do not log already.
//   - HotSpot's USDT probes are set from outside the JVM, without its help (usdt.go).
//
// Most JVMs of a command get an option for HotSpot's log when they start; package record adds it. Flight Recorder
// is started by an option, too, in JVMs of JDK 21 and newer. There, it records from the start of the JVM; see
// [RecordingOption].
package jvmevents

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/sampler"
)

// Options say which events are recorded, where they are saved, and how problems are reported.
type Options struct {
	Choice Choice
	// LogPattern is the path of the logs of JVMs that were started with an option for logging, with %p for the process
	// id. It is "" if there is no such option.
	LogPattern string
	// Started is the option that makes JVMs record with Flight Recorder from their start. It may be nil.
	Started  *RecordingOption
	Dir      string // the capture's folder
	Patience *patience.Patience
	Problem  func(error) // called when something is lost
	// Placed returns a function for the JVM pid. When that function is called with an address, gasm copies the code
	// there, as if a sample had been taken at this address.
	Placed func(pid int) func(pc uint64, monoNanos int64)
}

// path returns the path of a file in the capture.
func (o *Options) path(file string) string { return filepath.Join(o.Dir, file) }

// An Events records events of running JVMs. A nil *Events records nothing.
type Events struct {
	o    Options
	stop chan struct{} // closed by End

	mu        sync.Mutex
	ended     bool
	recorders []*recorder
	jvms      map[int]*foundJVM // by process id
	usdt      usdtRecorders
}

// A foundJVM has the ids of a JVM that gasm has found, and of its threads. In a container, the ids that the JVM itself
// sees differ from the ids that the sampler sees.
type foundJVM struct {
	process *foreign.Process // for looking up threads; nil if the ids are the same
	ownPID  int              // the JVM's id in its own PID namespace
	threads map[int]int      // ids in the JVM's own PID namespace, by the sampler's ids; nil if the ids are the same
}

// newFoundJVM looks up the process id that the JVM itself sees, in its innermost PID namespace. If that fails, it
// assumes that the ids are the same.
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

// ownTID returns a thread's id in the JVM's own PID namespace. If it can't be looked up, it returns tid.
func (j *foundJVM) ownTID(tid int) int {
	own, err := j.process.OwnTID(tid)
	if err != nil {
		return tid
	}
	return own
}

// New returns an Events that waits for calls of Found. If a command is recorded, New must be called before its JVMs
// run.
func New(o Options) *Events {
	e := &Events{o: o, stop: make(chan struct{}), jvms: map[int]*foundJVM{}}
	e.usdt.begin(&e.o, e.stop)
	return e
}

// Expect tells the sampler s that a command is about to start JVMs. The sampler then reports a new JVM sooner. So gasm
// sets the JVM's USDT probes sooner, and misses fewer events.
func (e *Events) Expect(s any) { e.usdt.expect(s) }

// Found is called when gasm has found a JVM: a process that has just mapped libjvm.so, and may not be ready yet, or a
// JVM to which gasm attaches. Found may be called several times for one JVM, from any goroutine, and returns at once.
// When ctx is done, gasm no longer accesses the JVM's files.
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

// AwaitBegun waits until all JVMs for which Found was called have begun to record events, or until stop is closed.
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

// Sampled is called with each sample of a JVM, if the sampler delivers samples during the recording. It looks up the
// thread id that the JVM itself sees. It does so at once, because the id can't be looked up after the thread has ended.
func (e *Events) Sampled(s *sampler.Sample) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jvms[s.PID]
	if j == nil || j.threads == nil || s.TID <= 0 || j.threads[s.TID] != 0 || e.o.Choice.None() ||
		len(j.threads) >= maxOwnIDs {
		return
	}
	j.threads[s.TID] = j.ownTID(s.TID)
}

// maxOwnIDs is the maximum number of threads of a JVM whose ids in the JVM's own PID namespace are looked up. For
// further threads, these ids stay unknown.
const maxOwnIDs = 1 << 16

// endTime limits the time in which JVMs end their logs and recordings. In this time, a JVM writes its recording to a
// file.
const endTime = 20 * time.Second

// End switches off everything that was switched on in the JVMs. It is called when the sampling has ended; the JVMs may
// continue to run. It reports JVMs that do not answer as problems. It does its work even if ctx is done, because a JVM
// must not be left recording. A second call does nothing.
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

// closeFound closes the processes of all JVMs. Sampled must not be called any more.
func (e *Events) closeFound() {
	for _, j := range e.jvms {
		if j.process != nil {
			j.process.Close()
		}
	}
}

// endRecorders makes all JVMs end their logs and recordings, in parallel. If a recorder's call of start is still
// waiting for the JVM's answer, endRecorders reports that as a problem. It returns the other recorders.
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

// Discard removes the files that JVMs have written. It is called after End if no capture will be made.
func (e *Events) Discard() {
	if e == nil {
		return
	}
	defer e.closeFound()
	for _, r := range e.recorders {
		r.discard()
	}
}

// Take moves the files of events into the capture. It writes the names of the files into the fields of each
// capture.JVM. startedMonoNanos is the start of the recording. The notes say which events are missing.
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
		notes =
			append(notes, "no events from Flight Recorder: gasm can have JVMs record on Linux alone; report --jfr FILE reads a recording of your own")
	}
	var early []string
	for _, r := range e.recorders {
		j := byPID[r.pid]
		if j == nil {
			j = &capture.JVM{PID: r.pid} // the JVM is not in the capture
		}
		notes = append(notes, r.take(j, startedMonoNanos)...)
		// JVMs that run for only a tenth of a second, such as those that JMH starts to find out about blackholes, have
		// no events. There is a note about them only if the user has asked for events.
		if r.early && e.o.Choice.Asked && !(j.EventLog != "" && (len(e.o.Choice.JFR) == 0 || len(j.Recordings) > 0)) {
			early = append(early, strconv.Itoa(r.pid))
		}
	}
	if note := earlyNote(early); note != "" {
		notes = append(notes, note)
	}
	return append(notes, e.usdt.take(byPID, startedMonoNanos)...)
}

// earlyNote returns a note about JVMs that ended before they accepted commands, or "" if there are none.
func earlyNote(pids []string) string {
	switch len(pids) {
	case 0:
		return ""
	case 1:
		return "JVM " + pids[0] + " ended before it could be told to record events"
	}
	return fmt.Sprintf("%d JVMs ended before they could be told to record events: %s", len(pids), layout.And(pids, 4))
}
