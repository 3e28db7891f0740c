package sampler

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A Native is a recording by perf_event_open, without any program, that is under way or
// has ended.
type Native struct {
	set    *perfevent.Set
	drain  *drain
	events []Event
	hertz  int
	notes  []fix.Note
	// buffers is the size of the kernel's buffers in bytes.
	buffers int

	switches chan switching // what Pause and Resume ask for; holds one
	stopOnce sync.Once
	stopping atomic.Bool
	done     chan struct{} // closed when all samples are in the file
	stopErr  error
	often    atomic.Int64 // until when pauses are short, by CLOCK_MONOTONIC
}

// StartNative opens the events on the first thread of the process, which is held before
// its exec. They begin with the exec, and all threads and processes that come of it are
// sampled. Where the cause of an error is known, the error is a *RefusedError.
func StartNative(opts Options) (*Native, error) {
	open := func(o perfevent.Options) (*perfevent.Set, error) { return perfevent.Open(opts.PID, o) }
	return startNative(opts, open, func(d *drain) {
		d.mapped = opts.Mapped
		d.started(opts.PID)
	})
}

// AttachNative opens the events on all threads of processes that run, PID and MorePIDs of
// the options, and begins at once. Threads and processes that come later are sampled, too.
func AttachNative(opts Options) (*Native, error) {
	pids := append([]int{opts.PID}, opts.MorePIDs...)
	open := func(o perfevent.Options) (*perfevent.Set, error) { return perfevent.OpenRunning(pids, o) }
	return startNative(opts, open, func(d *drain) {
		for _, pid := range pids {
			d.attached(pid)
		}
	})
}

// opener is perfevent.Open or perfevent.OpenRunning, of the processes that are sampled.
type opener func(o perfevent.Options) (*perfevent.Set, error)

// startNative opens the first of the candidate events that this machine has.
// learn tells the drain of the processes.
func startNative(opts Options, open opener, learn func(*drain)) (*Native, error) {
	n := &Native{done: make(chan struct{}), switches: make(chan switching, 1)}
	var note fix.Note
	n.hertz, note = allowedFrequency(opts.Frequency)
	if note.Text != "" {
		n.notes = append(n.notes, note)
	}
	r := requestFor(opts.Events, noCyclesCounter())
	var err error
	var refused *RefusedError // the first candidate's
	for _, n.events = range r.candidates {
		if n.set, err = openEvents(n.events, perfevent.Options{Frequency: n.hertz, Pauses: opts.Pauses}, open); err == nil {
			break
		}
		failure := refusedNative(err, n.events, opts.PID, thisHost())
		if failure == nil {
			return nil, err
		}
		err = failure
		if !failure.Reason.ofEvent() {
			break
		}
		if refused == nil {
			refused = failure
		}
	}
	if err != nil {
		return nil, err
	}
	specs := n.describe(r, refused)
	if n.drain, err = newDrain(filepath.Join(opts.Dir, "samples.part"), specs, n.events); err != nil {
		n.set.Close()
		return nil, err
	}
	learn(n.drain)
	n.buffers = n.set.Memory()
	go n.run()
	return n, nil
}

// openEvents finds the events by their names and opens them.
func openEvents(events []Event, o perfevent.Options, open opener) (*perfevent.Set, error) {
	for _, e := range events {
		pmu, modifiers := e.around()
		found, err := perfevent.Lookup(e.Spec, pmu, e.Name, modifiers)
		if err != nil {
			return nil, err
		}
		o.Events = append(o.Events, found)
	}
	return open(o)
}

// describe notes how what is sampled differs from what was asked for, and gives the
// events as the text has them: with u where the kernel could not be had.
func (n *Native) describe(r request, refused *RefusedError) (specs []string) {
	switch {
	case r.clockForCycles || refused != nil && n.events[0].Name == cpuClock:
		n.note(noCounterNote(cpuClock))
	case refused != nil:
		n.note(fmt.Sprintf("PCs may be some instructions late: sampled %s, because %s", n.events[0].Spec, refused.Cause))
	}
	hidden := false
	for i, e := range n.events {
		spec := e.Spec
		if n.set.UserOnly(i) {
			spec, hidden = e.userOnly(), true
		}
		specs = append(specs, spec)
		if e.CountsCycles() && n.set.Precise(i) == 0 && e.precise() {
			n.note(fmt.Sprintf("PCs may be some instructions late: this machine can't sample %s precisely", e.Name))
		}
	}
	if hidden {
		n.notes = append(n.notes, HiddenKernel)
	}
	return specs
}

func (n *Native) note(text string) { n.notes = append(n.notes, fix.Note{Text: text}) }

// Events returns the events that are sampled. Where this machine can't count cycles, a
// clock stands in place of them, and a note says so.
func (n *Native) Events() []Event { return slices.Clone(n.events) }

// Frequency returns how often each event is sampled, per second and CPU. It is less than
// what was asked for where the kernel allows less.
func (n *Native) Frequency() int { return n.hertz }

// Buffers is how much memory the kernel's buffers take, in bytes.
func (n *Native) Buffers() int { return n.buffers }

// Subscribe has the samples that come from now on be given to a stream, too, which holds
// so many that were not read. The samples are fetched at most pause after they were taken
// while threads are busy. Call it before Stop.
func (n *Native) Subscribe(capacity int, pause time.Duration) *Stream {
	s := newStream(capacity, pause)
	n.drain.subscribe(s)
	n.set.Interrupt() // a long pause
	return s
}

// shortPause is the time between two looks that LookOften asks for.
const shortPause = 10 * time.Millisecond

// LookOften has Options.Mapped be called some 30 ms after a file was mapped, for so long from now on. Without it, it takes up to
// a second behind a pause in which the process was held or slept.
func (n *Native) LookOften(d time.Duration) {
	n.often.Store(monotonic.Nanos() + d.Nanoseconds())
	n.set.Interrupt() // a long pause
}

// soon gives the next pause, which is short while LookOften is wanted.
func (n *Native) soon(pause time.Duration) time.Duration {
	if monotonic.Nanos() < n.often.Load() {
		return min(pause, shortPause)
	}
	return pause
}

// TextFile returns the path of the text, which a PerfReader reads. The file is complete
// after Stop; the caller removes it.
func (n *Native) TextFile() string { return n.drain.file.Name() }

// run takes the samples out of the kernel's buffers until Stop.
func (n *Native) run() {
	defer close(n.done)
	pause, ended := shortestDrain, 0
	for !n.stopping.Load() {
		n.set.Wait(pause)
		n.obey()
		ended = n.drain.forgetEnded(ended)
		pause = min(2*pause, longestDrain)
		found := n.set.Drain(false, n.drain.take) > 0
		if found {
			n.drain.flush() // what is written is not lost with gasm or on a full disk
		}
		pause = n.soon(n.drain.pauseForStreams(pause, found))
	}
	if err := n.set.Disable(); err != nil {
		n.stopErr = err
	}
	n.set.Drain(true, n.drain.take)
	for i := range n.events {
		n.drain.lostInAll(int64(n.set.Lost(i)))
	}
	n.set.Close()
	if err := n.drain.end(); err != nil {
		n.stopErr = err
	}
}

// Stop ends the recording and waits until all samples are in the file. A second Stop
// returns the same. If the file could not be written, the error is a *StoppedError, and
// the samples until then are in the file.
func (n *Native) Stop() error {
	n.stopOnce.Do(func() {
		n.stopping.Store(true)
		n.set.Interrupt()
	})
	<-n.done
	return n.stopErr
}

// Resolver gives what names the native functions of all processes, once Stop has
// returned. It has resolved all samples.
func (n *Native) Resolver() *native.Resolver { return n.drain.resolver }

// Notes tells how the recording differs from what was asked for, a sentence for each
// difference, with the command that mends it. Call it after Stop.
func (n *Native) Notes() []fix.Note {
	<-n.done
	return append(slices.Clone(n.notes), n.drain.notes()...)
}
