package record

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/sampler"
)

// liveEvents records events of JVMs that run, from outside: each source of events that is
// switched on in a running JVM, and off again, has its part in begin, found, end and take.
// (HotSpot's log in a command's JVMs is an option that they start with: eventLogs.)
//
// HotSpot's log in a JVM that was attached to, and recordings of Flight Recorder, are switched
// on through the attach socket (toldJVM). A recording could be an option, too: but JDK 11 to 16
// say on the program's stdout that it has begun, and what silences newer ones (-Xlog:jfr+startup)
// keeps older ones from starting.
type liveEvents struct {
	s      *session
	choice EventChoice

	mu      sync.Mutex
	ended   bool
	stopped context.Context // done when it ends
	stop    context.CancelFunc
	told    []*toldJVM        // those that are told to log or record
	jvms    map[int]*foundJVM // by process id
	usdt    liveUSDT
}

// A foundJVM is what is known of any JVM.
type foundJVM struct {
	process *foreign.Process // while its threads are looked up; nil where they have the same ids
	ownPID  int              // that it has itself
	threads map[int]int      // the ids that threads have themselves, by the sampler's; nil where they are the same
}

// newFoundJVM finds out which id a process has itself: in the innermost PID namespace that it is in. Where nobody knows it
// is the same.
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

// ownTID is the id that a thread has itself; the same where nobody knows.
func (j *foundJVM) ownTID(tid int) int {
	own, err := j.process.OwnTID(tid)
	if err != nil {
		return tid
	}
	return own
}

// begin is called when the sampler is at work, before there is any JVM of a command. byOption
// tells that the JVMs log by an option of theirs.
func (l *liveEvents) begin(s *session, choice EventChoice, byOption bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if byOption {
		choice.Log = nil
	}
	l.s, l.choice, l.jvms = s, choice, map[int]*foundJVM{}
	l.stopped, l.stop = context.WithCancel(s.patience.begin)
	l.usdt.begin(s, &choice, l.stopped.Done())
}

// found is called when a JVM is found: it has mapped libjvm.so, and may not have begun to
// run, or it is one that gasm attaches to. It may be called more than once for each, from
// any goroutine, and returns at once.
func (l *liveEvents) found(pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.jvms == nil || l.jvms[pid] != nil {
		return
	}
	j := newFoundJVM(pid)
	l.jvms[pid] = j
	l.usdt.found(pid)
	if len(l.choice.Log)+len(l.choice.JFR) > 0 {
		t := newToldJVM(pid, j.ownPID, &l.choice, l.s.patience)
		l.told = append(l.told, t)
		go t.start(l.stopped)
	}
}

// awaitBegun waits until all JVMs that were found have begun to record events, or stop is closed.
func (l *liveEvents) awaitBegun(stop <-chan struct{}) {
	l.mu.Lock()
	told := l.told
	l.mu.Unlock()
	for _, t := range told {
		done := l.s.sayWaiting(t.pid, "begin to log and record events")
		select {
		case <-t.begun:
		case <-stop:
			done()
			return
		}
		done()
	}
	l.usdt.awaitBegun(stop)
}

// sampled is called with each sample of a JVM, where the sampler gives them while they are taken.
func (l *liveEvents) sampled(s *sampler.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jvms[s.PID]
	if j == nil || j.threads == nil || s.TID <= 0 || j.threads[s.TID] != 0 || l.choice.None() || len(j.threads) >= maxOwnIDs {
		return
	}
	j.threads[s.TID] = j.ownTID(s.TID)
}

// maxOwnIDs is more than the threads of any JVM.
const maxOwnIDs = 1 << 16

// endTime is how long a JVM may take to end what it was told to do. It writes its recording meanwhile.
const endTime = 20 * time.Second

// end is called when the sampling has ended, perhaps while the JVMs run on. All that was
// switched on in them is off again when it returns.
func (l *liveEvents) end() {
	l.mu.Lock()
	if l.ended || l.jvms == nil {
		l.ended = true
		l.mu.Unlock()
		return
	}
	l.ended = true
	told := l.told
	l.mu.Unlock()
	l.stop()
	ctx, cancel := context.WithTimeoutCause(l.s.patience.tell, endTime, fmt.Errorf("it did not within %s", endTime))
	defer cancel()
	l.told = l.endTold(ctx, told)
	l.usdt.await(l.s.patience.reach)
	for _, t := range l.told {
		for _, err := range t.problems {
			l.s.problem(err)
		}
	}
}

// closeFound ends the use of the processes, when no sample comes any more.
func (l *liveEvents) closeFound() {
	for _, j := range l.jvms {
		if j.process != nil {
			j.process.Close()
		}
	}
}

// endTold has JVMs end what they do, and returns those that have answered to what they were told before.
func (l *liveEvents) endTold(ctx context.Context, told []*toldJVM) (answered []*toldJVM) {
	ended := make([]bool, len(told))
	var wg sync.WaitGroup
	for i, t := range told {
		wg.Go(func() {
			defer l.s.sayWaiting(t.pid, "end its log and its recording")()
			ended[i] = t.end(ctx)
		})
	}
	wg.Wait()
	for i, t := range told {
		if ended[i] {
			answered = append(answered, t)
			continue
		}
		l.s.problem(fmt.Errorf("JVM %d has not answered, and may begin to log or record events: `gasm attach` ends that as soon as it answers", t.pid))
	}
	return answered
}

// discard removes what JVMs have written, when there is to be no capture. It is called after end.
func (l *liveEvents) discard() {
	defer l.closeFound()
	for _, t := range l.told {
		t.discard()
	}
}

// take completes the files of events in the capture, and notes in each JVM which are its.
// The notes are on what could not be had.
func (l *liveEvents) take(jvms []capture.JVM) (notes []string) {
	defer l.closeFound()
	byPID := map[int]*capture.JVM{}
	for i := range jvms {
		byPID[jvms[i].PID] = &jvms[i]
	}
	for pid, f := range l.jvms {
		j := byPID[pid]
		if j == nil || f.threads == nil || l.choice.None() {
			continue
		}
		j.OwnPID, j.Threads = f.ownPID, map[int]int{}
		for tid, own := range f.threads {
			j.Threads[own] = tid
		}
	}
	if len(l.choice.JFR) > 0 && runtime.GOOS != "linux" {
		notes = append(notes, "no events from Flight Recorder: gasm can tell JVMs to record on Linux alone; report --jfr FILE reads a recording of your own")
	}
	for _, t := range l.told {
		j := byPID[t.pid]
		if j == nil {
			j = &capture.JVM{PID: t.pid} // it is not in the capture
		}
		notes = append(notes, t.take(l.s, j)...)
	}
	return append(notes, l.usdt.take(byPID)...)
}
