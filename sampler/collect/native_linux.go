package collect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// A Native is a recording that gasm itself makes with perf_event_open, without perf. It is running or has ended.
type Native struct {
	set    *perfevent.Set
	drain  *drain
	events []sampler.Event
	hertz  int
	notes  []fix.Note
	// buffers is the size of the kernel's buffers in bytes. stackSize is the number of bytes of a thread's stack that
	// the kernel copies for each sample.
	buffers, stackSize int

	switches chan switching // requests from Pause and Resume; it has room for one
	stopOnce sync.Once
	stopping atomic.Bool
	done     chan struct{} // closed when all samples are in the file
	stopErr  error
	often    shortPauses
}

// StartNative opens the events on the first thread of a process that has not called exec yet. Sampling begins with the
// exec, and includes all threads and processes that descend from that thread. If the cause of an error is known, the
// error is a *failure.RefusedError.
func StartNative(opts Options) (*Native, error) {
	open := func(o perfevent.Options) (*perfevent.Set, error) { return perfevent.Open(opts.PID, o) }
	return startNative(opts, open, func(d *drain) {
		d.mapped = opts.Mapped
		d.started(opts.PID)
	})
}

// AttachNative opens the events on all threads of running processes: opts.PID and opts.MorePIDs. Sampling begins at
// once, and includes threads and processes that are created later. AttachNative reads the mappings of each process from
// /proc. When ctx is done, it goes on without the mappings that it has not read yet.
func AttachNative(ctx context.Context, opts Options) (*Native, error) {
	pids := append([]int{opts.PID}, opts.MorePIDs...)
	open := func(o perfevent.Options) (*perfevent.Set, error) { return perfevent.OpenRunning(pids, o) }
	return startNative(opts, open, func(d *drain) {
		for _, pid := range pids {
			d.attached(ctx, pid)
		}
	})
}

// An opener opens events on the processes to be sampled, with perfevent.Open or perfevent.OpenRunning.
type opener func(o perfevent.Options) (*perfevent.Set, error)

// startNative opens the events that the user named, or else the best ones that this machine has. It passes the new
// drain to the function learn, in which the caller can add the processes to the drain.
func startNative(opts Options, open opener, learn func(*drain)) (*Native, error) {
	n := &Native{done: make(chan struct{}), switches: make(chan switching, 1)}
	var note fix.Note
	n.hertz, note = chooseFrequency(opts)
	if note.Text != "" {
		n.notes = append(n.notes, note)
	}
	r := requestFor(opts.Events, noCyclesCounter())
	o := perfevent.Options{Frequency: n.hertz, Pauses: opts.Pauses}
	if opts.Walk != nil {
		o.Stacks, o.DrainEvery = cmp.Or(opts.StackSize, perfevent.MaxStack), ringPause
	}
	var err error
	var refused *failure.RefusedError // the error of the first candidate
	if n.set, n.events, refused, err = openFirst(r, o, opts.PID, open); err != nil {
		return nil, err
	}
	if o.Stacks > 0 && n.set.Stacks() < min(opts.LeastStack, o.Stacks) {
		n.set.Close()
		return nil, littleRoom(n.set.Stacks())
	}
	specs := n.describe(r, refused)
	if n.drain, err = newDrain(filepath.Join(opts.Dir, "samples.part"), specs, n.events); err != nil {
		n.set.Close()
		return nil, err
	}
	if n.set.Stacks() > 0 {
		if n.drain.stacks, err = newStacks(filepath.Join(opts.Dir, "stacks.part"), opts); err != nil {
			n.set.Close()
			n.drain.file.Close()
			os.Remove(n.TextFile())
			return nil, err
		}
		if note, shallow := shallowNote(n.set.Stacks(), o.Stacks); shallow {
			n.notes = append(n.notes, note)
		}
	}
	n.stackSize = n.set.Stacks()
	learn(n.drain)
	n.buffers = n.set.Memory()
	go n.run()
	return n, nil
}

// openFirst opens the first of r.candidates that this machine has, and returns its events. refused says why the first
// candidate in the list was refused; it is nil if that candidate was opened.
func openFirst(r request, o perfevent.Options, pid int, open opener) (set *perfevent.Set, events []sampler.Event,
	refused *failure.RefusedError, err error) {
	for _, events = range r.candidates {
		if set, err = openEvents(events, o, open); err == nil {
			break
		}
		known := refusedNative(err, events, pid, machine.This())
		if known == nil {
			return nil, nil, nil, err
		}
		err = known
		if !known.Reason.OfEvent() {
			break
		}
		if refused == nil {
			refused = known
		}
	}
	return set, events, refused, err
}

// openEvents looks up the events by their names and opens them.
func openEvents(events []sampler.Event, o perfevent.Options, open opener) (*perfevent.Set, error) {
	for _, e := range events {
		pmu, modifiers := around(e)
		found, err := perfevent.Lookup(e.Spec, pmu, e.Name, modifiers)
		if err != nil {
			return nil, err
		}
		o.Events = append(o.Events, found)
	}
	return open(o)
}

// describe notes how the sampled events differ from the requested ones. It returns the names of the events for the
// text. If the kernel could not be sampled, the names have the modifier u.
func (n *Native) describe(r request, refused *failure.RefusedError) (specs []string) {
	switch {
	case r.clockForCycles || refused != nil && n.events[0].Name == sampler.CPUClock:
		n.note(noCounterNote(sampler.CPUClock))
	case refused != nil:
		n.note(fmt.Sprintf("PCs may be some instructions late: sampled %s, because %s", n.events[0].Spec, refused.Cause))
	}
	hidden := false
	for i, e := range n.events {
		spec := e.Spec
		if n.set.UserOnly(i) {
			spec, hidden = userOnly(e), true
		}
		specs = append(specs, spec)
		if e.CountsCycles() && n.set.Precise(i) == 0 && precise(e) {
			n.note(fmt.Sprintf("PCs may be some instructions late: this machine can't sample %s precisely", e.Name))
		}
	}
	if hidden {
		n.notes = append(n.notes, HiddenKernel)
	}
	return specs
}

func (n *Native) note(text string) { n.notes = append(n.notes, fix.Note{Text: text}) }

// Events returns the events that are sampled. If the user asked for cycles and this machine can't count them, a clock
// is sampled instead, and a note says so.
func (n *Native) Events() []sampler.Event { return slices.Clone(n.events) }

// Frequency returns how often each event is sampled, per second and CPU. It differs from Options.Frequency if it was
// drawn at random, or if the kernel allows less.
func (n *Native) Frequency() int { return n.hertz }

// Buffers returns the size of the kernel's buffers, in bytes.
func (n *Native) Buffers() int { return n.buffers }

// LostSoFar returns how many samples the kernel has reported as lost because its buffers were full. Any goroutine may
// call it during the recording. The file with the samples has the final number.
func (n *Native) LostSoFar() int64 { return n.drain.lost.Load() }

// StackSize returns the number of bytes of a thread's stack that are copied for each sample. It is 0 if no stacks are
// recorded.
func (n *Native) StackSize() int { return n.stackSize }

// Subscribe returns a stream that gets all samples from now on. The stream keeps up to capacity samples until they are
// received, and drops further ones. pause is the longest time between two readings of the kernel's buffers while
// threads are busy. Call Subscribe before Stop.
func (n *Native) Subscribe(capacity int, pause time.Duration) *Stream {
	s := newStream(capacity, pause)
	n.drain.subscribe(s)
	n.set.Interrupt() // ends a long pause
	return s
}

// shortPause is the pause between two readings of the kernel's buffers while LookOften is in effect.
const shortPause = 10 * time.Millisecond

// LookOften makes the recording look for new mappings more often for the duration d. During this time, Options.Mapped
// is called about 30 ms after a file was mapped. At other times this can take up to a second, for example if the
// process was asleep before.
func (n *Native) LookOften(d time.Duration) {
	n.often.extend(d)
	n.set.Interrupt() // ends a long pause
}

// A shortPauses holds the time until which the pauses between two readings of the kernel's buffers are short.
type shortPauses struct{ end atomic.Int64 } // on CLOCK_MONOTONIC, in ns

// extend makes pauses short for the duration d. If an earlier call has asked for a later end, that end stays.
func (s *shortPauses) extend(d time.Duration) {
	for end := monotonic.Nanos() + d.Nanoseconds(); ; {
		before := s.end.Load()
		if end <= before || s.end.CompareAndSwap(before, end) {
			return
		}
	}
}

// limit returns the given pause. But while pauses are to be short, it returns at most shortPause.
func (s *shortPauses) limit(pause time.Duration) time.Duration {
	if monotonic.Nanos() < s.end.Load() {
		return min(pause, shortPause)
	}
	return pause
}

// TextFile returns the path of the text with the samples, which a sampler.PerfReader reads. The file is complete after
// Stop. The caller must remove it.
func (n *Native) TextFile() string { return n.drain.file.Name() }

// StacksFile returns the path of the file with the call stacks, which callstack.Read reads. The file is complete after
// Stop. The caller must remove it. If no stacks are recorded, StacksFile returns "".
func (n *Native) StacksFile() string {
	if n.drain.stacks == nil {
		return ""
	}
	return n.drain.stacks.file.Name()
}

// run takes the samples out of the kernel's buffers until Stop.
func (n *Native) run() {
	defer close(n.done)
	if n.drain.stacks == nil {
		n.takeUntilStop(n.drain.take, n.drain.looked, func() bool { return false })
		n.set.Drain(true, n.drain.take)
	} else {
		q := newQueue(n.drain)
		n.takeUntilStop(q.put, q.looked, q.full)
		n.set.Drain(true, q.put)
		q.end(n.drain.stacks.giveUp)
	}
	for i := range n.events {
		n.drain.lostInAll(int64(n.set.Lost(i)))
	}
	n.set.Close()
	if err := n.drain.end(); err != nil {
		n.stopErr = err
	}
}

// takeUntilStop calls the function take for each record until Stop is called, and then ends the sampling. After each
// reading of the kernel's buffers that has found records, it calls looked(). As long as full() returns true, it does
// not read the buffers.
func (n *Native) takeUntilStop(take func(*perfevent.Record), looked func(), full func() bool) {
	for pause := shortestDrain; !n.stopping.Load(); {
		n.set.Wait(monotonic.Until(pause))
		n.obey()
		pause = min(2*pause, longestDrain)
		found := full()
		if !found && n.set.Drain(false, take) > 0 {
			found = true
			looked()
		}
		pause = n.often.limit(n.drain.nextPause(pause, found))
	}
	if err := n.set.Disable(); err != nil {
		n.stopErr = err
	}
}

// Stop ends the recording and waits until all samples are in the file. Two steps can take long: looking up the names of
// native functions, which reads the files that the processes have mapped, and walking call stacks, which also reads the
// memory of the processes. When ctx is done, Stop leaves the remaining functions without names, and the remaining
// samples without stacks. If the samples could not be written, the error is a *failure.StoppedError, and the file has
// the samples up to the failure. Further calls return the same error.
func (n *Native) Stop(ctx context.Context) error {
	n.stopOnce.Do(func() {
		n.stopping.Store(true)
		n.set.Interrupt()
	})
	select {
	case <-n.done:
	case <-ctx.Done():
		n.drain.resolver.GiveUp()
		if n.drain.stacks != nil {
			n.drain.stacks.giveUp()
		}
		<-n.done
	}
	return n.stopErr
}

// Resolver returns the resolver that names the native functions of all processes. Call it only after Stop has returned:
// then the functions of all samples are resolved.
func (n *Native) Resolver() *native.Resolver { return n.drain.resolver }

// Notes returns a note for each difference between the recording and the request. If there is a command that fixes the
// difference, the note has it. Notes waits until the recording has ended.
func (n *Native) Notes() []fix.Note {
	<-n.done
	return append(slices.Clone(n.notes), n.drain.notes()...)
}
