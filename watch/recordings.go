package watch

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/record/jvmevents"
	"github.com/gasm-profiler/gasm/watch/events"
)

// A recordings has a recording of events of each watched JVM, and makes profiles of them. Its methods are called by one
// goroutine. The zero value records no events.
type recordings struct {
	gasm    string
	kinds   []event.Kind
	every   time.Duration
	say     func(text string)
	running map[int]*recording // by process id; those that have ended stay until they are dropped
	all     sync.WaitGroup

	mu   sync.Mutex
	made []madeProfile
}

// A madeProfile is a profile that has no ID and no labels yet.
type madeProfile struct {
	jvm     *jvm
	profile *push.Profile
}

// A recording is the recording of one JVM.
type recording struct {
	ticks uint64
	jvm   atomic.Pointer[jvm] // the latest jvm with this process id
	ctx   context.Context     // done when the recording should end
	stop  context.CancelFunc  // asks the recording to end, and does not wait for that
	ended chan struct{}       // closed when the recording has ended, and its last profiles are made
}

// reading is locked while a dump is read, so that the memory of only one dump is needed at a time.
var reading sync.Mutex

// set adopts options. If they change what is recorded, all recordings end, and begin again when their JVMs are wanted.
// JVMs that could not be recorded are tried again.
func (r *recordings) set(o *Options) {
	if !slices.Equal(r.kinds, o.Events) || r.every != o.Every {
		r.stopAll()
	}
	r.gasm, r.kinds, r.every, r.say = o.Gasm, o.Events, o.Every, o.Say
	for pid, x := range r.running {
		select {
		case <-x.ended:
			delete(r.running, pid)
		default:
		}
	}
}

// want begins to record a JVM, unless it is recorded already, or could not be recorded.
func (r *recordings) want(j *jvm) {
	if len(r.kinds) == 0 {
		return
	}
	before := r.running[j.PID]
	if before != nil && before.ticks == j.ticks && before.ctx.Err() == nil {
		before.jvm.Store(j)
		return
	}
	x := &recording{ticks: j.ticks, ended: make(chan struct{})}
	x.ctx, x.stop = context.WithCancel(context.Background())
	x.jvm.Store(j)
	if r.running == nil {
		r.running = map[int]*recording{}
	}
	r.running[j.PID] = x
	m := maker{recording: x, to: r, kinds: r.kinds, every: r.every, say: r.say, gasm: r.gasm}
	r.all.Go(func() {
		defer close(x.ended)
		if before != nil { // otherwise, both recordings would have the same events
			before.stop()
			<-before.ended
		}
		m.run()
	})
}

// drop ends the recording of a JVM. It does not wait for that.
func (r *recordings) drop(pid int) {
	x := r.running[pid]
	if x == nil {
		return
	}
	x.stop()
	select {
	case <-x.ended:
		delete(r.running, pid)
	default: // if the JVM is wanted again, its next recording waits for the end of this one
	}
}

// stopAll ends all recordings. It does not wait for that.
func (r *recordings) stopAll() {
	for _, x := range r.running {
		x.stop()
	}
}

// wait waits until all recordings have ended.
func (r *recordings) wait() { r.all.Wait() }

// take returns the profiles that were made since the last call.
func (r *recordings) take() []madeProfile {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := r.made
	r.made = nil
	return made
}

// A maker records a JVM, and makes profiles.
type maker struct {
	*recording
	to    *recordings
	gasm  string
	kinds []event.Kind
	every time.Duration
	say   func(text string)

	rolling    *jvmevents.Rolling
	reader     events.Reader
	from       time.Time // the beginning of the current interval
	failed     bool      // the user was told that a dump has failed
	incomplete bool      // the user was told that events are missing
}

// keptIntervals is for how many intervals a JVM keeps its events. It is more than one, so that no events are missing if
// the JVM or gasm is late.
const keptIntervals = 3

// run records until the recording is stopped or the JVM has ended.
func (m *maker) run() {
	var err error
	m.from = time.Now()
	j := m.jvm.Load()
	if m.rolling, err = jvmevents.StartRolling(m.ctx, j.PID, m.kinds, keptIntervals*m.every); err != nil {
		if m.ctx.Err() == nil {
			m.tell("there are no profiles of its %s: %v; its CPU profiles are not affected", err)
		}
		return
	}
	over := make(chan struct{}) // closed when the JVM has ended, or the recording is stopped
	go func() {
		defer close(over)
		m.rolling.Await(m.ctx.Done())
	}()
	ticker := time.NewTicker(m.every)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			m.finish()
			return
		case <-ticker.C:
			m.next()
		}
	}
}

var kindWords = map[event.Kind]string{event.Lock: "locks", event.Alloc: "allocations"}

// tell tells the user something about the JVM. The format has the kinds of events and an error.
func (m *maker) tell(format string, err error) {
	var kinds []string
	for _, k := range m.kinds {
		kinds = append(kinds, kindWords[k])
	}
	m.say(fmt.Sprintf("JVM %s: "+format, m.jvm.Load(), layout.And(kinds, len(kinds)), err))
}

// next makes profiles of what happened since the last call.
func (m *maker) next() {
	err := m.rolling.Dump(m.ctx, m.read)
	if err == nil {
		m.emit()
		return
	}
	if !m.failed && m.ctx.Err() == nil && !m.rolling.HasEnded() {
		m.failed = true
		m.tell("there is no profile of its %s for now: %v", err)
	}
}

// finish ends the recording, and makes the last profiles.
func (m *maker) finish() {
	if err := m.rolling.Close(m.ctx, m.read); err != nil {
		m.tell("the last profiles of its %s may be incomplete: %v", err)
	}
	m.emit()
}

// read reads a dump.
func (m *maker) read(f io.ReaderAt, size int64) error {
	reading.Lock()
	defer reading.Unlock()
	if err := m.reader.Add(f, size); err != nil && !m.incomplete {
		m.incomplete = true
		m.tell("the profiles of its %s are incomplete: %v", err)
	}
	return nil
}

// emit makes one profile for each kind of which there were events.
func (m *maker) emit() {
	from, to := m.from, time.Now()
	m.from = to
	for _, kind := range m.kinds {
		sum := m.reader.Take(kind)
		if sum == nil {
			continue
		}
		text, err := sum.Pprof(kind, from, to, m.gasm)
		if err != nil {
			m.tell("there is no profile of its %s: %v", err)
			continue
		}
		m.to.mu.Lock()
		m.to.made = append(m.to.made, madeProfile{m.jvm.Load(), &push.Profile{Kind: push.Kind(kind), From: from, To: to,
			Samples: sum.Count, Pprof: text}})
		m.to.mu.Unlock()
	}
}
