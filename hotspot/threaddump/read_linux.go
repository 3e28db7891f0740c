package threaddump

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

const (
	// MaxThreads is the maximum number of threads that are read. If there are more, Dump.More is true.
	MaxThreads = 1 << 14
	// MaxFrames is the maximum number of frames of a thread that are reported. It is also jstack's default limit.
	MaxFrames = 1024
	// These limits apply to all threads together: maxAllFrames to the number of frames, maxAllNames to the bytes of
	// names in frames, and walkTime to the time for walking stacks. Threads beyond these limits have no stack.
	maxAllFrames = 1 << 19
	maxAllNames  = 128 << 20
	// maxAllLocks is the maximum number of locks in frames that are examined. Frames after that have no locks.
	maxAllLocks = 1 << 17
	walkTime    = 5 * time.Second
	// longest is how long Read may take.
	longest = 15 * time.Second
)

// Read reads all threads of a running JVM. It returns an error if the JVM can't be read, or does not answer in time
// because its memory is mapped from a file system that does not answer.
func Read(ctx context.Context, pid int) (*Dump, error) {
	return foreign.Within(ctx, longest, func() (*Dump, error) { return read(pid) })
}

// A reader reads all threads of one JVM at once.
type reader struct {
	looker
	dump     *Dump
	captures []capture
	until    time.Time // after this time, no further stack is walked
	locks    int       // number of locks in frames that were examined
	// Indexes in dump.Threads.
	byJava, byObject map[uint64]int
}

func read(pid int) (*Dump, error) {
	began := time.Now()
	l, err := newLooker(shared.NewJVMs(), pid, false)
	if err != nil {
		return nil, err
	}
	defer l.close()
	r := &reader{looker: *l, dump: &Dump{PID: pid, Release: l.view.VM.Release, Time: began},
		byJava: map[uint64]int{}, byObject: map[uint64]int{}}
	r.dump.Version, _, _ = l.view.VM.Version() // "" after an error
	if err := r.captureAll(); err != nil {
		return nil, err
	}
	if err := r.readMaps(); err != nil {
		return nil, err
	}
	r.walkAll()
	r.findOwners()
	r.addLocks()
	r.dump.Deadlocks = r.confirmed(findDeadlocks(r.dump.Threads))
	if r.capturer.process.Ended() {
		return nil, fmt.Errorf("process %d has ended", pid)
	}
	r.dump.Took = time.Since(began)
	return r.dump, nil
}

// captureAll reads all threads.
func (r *reader) captureAll() error {
	process := r.capturer.process
	tids := process.Threads()
	slices.Sort(tids)
	r.dump.More = len(tids) > MaxThreads
	tids = tids[:min(len(tids), MaxThreads)]
	java, err := r.javaThreads()
	if err != nil {
		return err
	}
	refused := 0
	for _, tid := range tids {
		nid, err := r.ownID(tid)
		if err != nil {
			continue
		}
		t := r.capture(tid, java[nid])
		t.nid = nid
		// Read the object now. Later a collector may have moved it, and t.fields would still have the old address.
		if t.java != 0 && t.result == Whole {
			t.wanted = r.monitorObject(le64(t.fields, r.capturer.layout.pending.At))
		}
		if t.comm == "" {
			continue // it has ended
		}
		if t.result == Unread {
			refused++
		}
		r.captures = append(r.captures, t)
	}
	if refused > 0 && refused == len(r.captures) {
		return errors.New("the kernel does not say what its threads do (/proc/PID/task/TID/syscall): " +
			"it was built without that, or refuses it; run gasm as root")
	}
	return nil
}

// walkAll walks the stacks of all threads.
func (r *reader) walkAll() {
	var running []int
	r.until = time.Now().Add(walkTime)
	frames, names := 0, 0
	for i := range r.captures {
		t := &r.captures[i]
		r.dump.Threads = append(r.dump.Threads, r.describe(t))
		switch t.result {
		case Whole:
			if frames > maxAllFrames || names > maxAllNames || time.Now().After(r.until) {
				r.dump.Threads[i].Stack = Unread
				continue
			}
			var cut bool
			t.places, cut = r.walk(t)
			r.dump.Threads[i].setFrames(t.places, cut)
			frames += len(r.dump.Threads[i].Frames)
			for _, f := range r.dump.Threads[i].Frames {
				names += len(f.Name) + len(f.Module) + len(f.Source)
			}
		case Running, Moved:
			running = append(running, t.tid)
		}
	}
	if len(running) > 0 {
		r.sampleAll(running)
	}
	for i := range r.dump.Threads {
		if r.dump.Threads[i].Stack == Moved {
			r.dump.Moved++
		}
	}
}

// sampleAll samples the threads that run.
func (r *reader) sampleAll(tids []int) {
	samples, err := sample(tids)
	r.dump.Unsampled = err
	if len(samples) > 0 {
		_ = r.readMaps() // after an error, the files that are known already are used
	}
	for i := range r.dump.Threads {
		t := &r.dump.Threads[i]
		record, ok := samples[t.TID]
		if !ok {
			continue
		}
		record.PID = int32(r.pid) // the kernel reports the same id: that in gasm's PID namespace
		places, mark := r.complete(func() ([]stack.Place, callstack.Kind) { return r.walker.WalkSample(&record, r.mappings) })
		if mark != 0 {
			places = append(places, stack.Place{Frame: callstack.At(mark, 0)})
		}
		t.setFrames(places, false)
		t.Stack = Sampled
		t.Kernel = Kernel{State: OnProcessor}
	}
}
