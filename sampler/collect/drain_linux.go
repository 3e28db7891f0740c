package collect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

const (
	// The shortest and the longest pause between two readings of the kernel's buffers. Waking up takes more CPU time
	// than the reading itself, so pauses get longer, unless a Stream wants the samples soon. A pause also ends when a
	// buffer is half full.
	shortestDrain, longestDrain = 100 * time.Millisecond, time.Second
	// When the text has this many bytes, a drain writes it to the file.
	writtenAt = 64 << 10
)

// A drain turns the records in the kernel's buffers into text. It names the thread and the mapping of a sample as they
// were at the time of the sample.
type drain struct {
	file        *os.File
	text        *sampler.PerfText
	written     int64 // size of the file in bytes
	failure     error // why the file could not be written
	events      []string
	resolver    *native.Resolver
	threads     map[int32]thread
	ended       []int32              // threads that have ended, but are not forgotten yet; see looked
	endedBefore int                  // number of threads in ended before the last reading of the buffers
	alive       map[int32]int        // number of running threads of each process
	mapped      func(native.Mapping) // see Options.Mapped; may be nil
	kernel      *kernelSymbols
	kernelPCs   map[uint64]int // samples in the kernel; see KernelCode
	last        sampler.Sample
	stacks      *stacks // nil if no stacks are recorded
	// throttled counts how often the kernel has paused an event because its samples came too fast.
	throttled int
	lost      atomic.Int64 // samples that the kernel has reported as lost so far

	mu      sync.Mutex
	streams []*Stream
}

// A thread is a running thread, or one whose end the kernel has just reported. The kernel may still sample a thread
// for a moment after its end.
type thread struct {
	name  string
	ended bool
}

// newDrain returns a drain that writes to a new file. specs are the names that the events have in the text.
func newDrain(path string, specs []string, events []sampler.Event) (*drain, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing the samples: %w", err)
	}
	d := &drain{file: file, text: sampler.NewPerfText(specs), resolver: native.NewResolver(),
		threads: map[int32]thread{}, alive: map[int32]int{}}
	for _, e := range events {
		d.events = append(d.events, e.Name)
	}
	return d, nil
}

// mapsTime is a time limit for native.ReadMaps, which usually takes much less.
const mapsTime = 5 * time.Second

// started adds a process to the drain just before the process execs. The process's events begin during the exec, a
// moment before the kernel reports the new name (begin_new_exec in fs/exec.c). So a sample may still have the old name.
func (d *drain) started(pid int) {
	d.resolver.Note(pid) // the process and its children may end before gasm looks at their first mapping
	d.alive[int32(pid)] = 1
	d.threads[int32(pid)] = thread{name: machine.ReadTrimmed(fmt.Sprintf("/proc/%d/comm", pid))}
}

// attached adds a running process to the drain. The events of the process are already open, so the drain also learns
// of threads and mappings that appear while this function reads the present ones.
func (d *drain) attached(ctx context.Context, pid int) {
	for _, tid := range perfevent.Threads(pid) {
		d.alive[int32(pid)]++
		d.threads[int32(tid)] = thread{name: machine.ReadTrimmed(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))}
	}
	d.resolver.Note(pid)
	// If the mappings can't be read, their functions have no names.
	mappings, _ := foreign.Within(ctx, mapsTime, func() ([]native.Mapping, error) { return native.ReadMaps(pid) })
	d.resolver.Add(mappings...)
}

// take handles one of the kernel's records. Records come in the order of their times.
func (d *drain) take(r *perfevent.Record) {
	switch r.Kind {
	case perfevent.Sample:
		d.sample(r)
	case perfevent.Mapping:
		mapping := mappingOf(r)
		d.resolver.Add(mapping)
		if d.mapped != nil {
			d.mapped(mapping)
		}
	case perfevent.Comm:
		if r.Exec {
			d.resolver.Exec(int(r.PID))
		}
		d.threads[r.TID] = thread{name: r.Name}
	case perfevent.Fork:
		// The new thread has the name of the thread that created it. If the creating thread has ended before gasm read
		// its name, the name of the process is the best guess.
		if name := cmp.Or(d.threads[r.PTID].name, d.threads[r.PPID].name); name != "" {
			d.threads[r.TID] = thread{name: name}
		}
		if r.PID == r.PPID {
			d.alive[r.PID]++
		} else {
			d.alive[r.PID] = 1
			d.resolver.Fork(int(r.PPID), int(r.PID))
		}
	case perfevent.Exit:
		d.threads[r.TID] = thread{d.threads[r.TID].name, true}
		d.ended = append(d.ended, r.TID)
		if d.alive[r.PID]--; d.alive[r.PID] <= 0 {
			delete(d.alive, r.PID)
			d.resolver.Forget(int(r.PID))
		}
	case perfevent.Lost:
		at := sampler.Sample{MonoNanos: r.MonoNanos, PID: int(r.PID), TID: int(r.TID), Thread: d.threadName(r)}
		d.text.Lost(&at, int64(r.Count), false)
		d.lost.Add(int64(r.Count))
	case perfevent.Throttle:
		d.throttled++
	}
	if d.text.Len() >= writtenAt {
		d.flush()
	}
}

// looked is called after each reading of the kernel's buffers, when all records have been taken. It writes the text, so
// the samples are not lost if gasm is killed. A thread that has ended is forgotten one reading later, because the
// kernel may still report samples of it.
func (d *drain) looked() {
	for _, tid := range d.ended[:d.endedBefore] {
		if d.threads[tid].ended { // false if a new thread has the same id
			delete(d.threads, tid)
		}
	}
	d.ended = append(d.ended[:0], d.ended[d.endedBefore:]...)
	d.endedBefore = len(d.ended)
	d.flush()
}

// threadName returns the name of a record's thread. A thread that ended while gasm attached to its process has no known
// name. In its place, threadName returns the name of the process. It returns "" for a thread that has lost its id while
// it was ending (TID is -1).
func (d *drain) threadName(r *perfevent.Record) string {
	if name := d.threads[r.TID].name; name != "" || r.TID <= 0 {
		return name
	}
	return d.threads[r.PID].name
}

// sample writes a sample and hands it to the streams.
func (d *drain) sample(r *perfevent.Record) {
	s := &d.last
	*s = sampler.Sample{MonoNanos: r.MonoNanos, PID: int(r.PID), TID: int(r.TID), Thread: d.threadName(r), PC: r.IP,
		Event: d.events[r.Event]}
	path := ""
	switch {
	case r.Mode == perfevent.Kernel:
		name := d.kernelNames().at(r.IP)
		s.Symbol, s.Module, path = name.symbol, sampler.KernelModule, name.module
		d.countKernel(r.IP)
	case r.Mode == perfevent.User && r.IP >= sampler.KernelStart:
		s.Module, path = sampler.Vsyscall, sampler.Vsyscall
	case r.Mode == perfevent.User:
		path = d.resolver.Path(s.PID, r.IP)
		if found, ok := d.resolver.Sampled(s.PID, r.IP, ""); ok {
			s.Symbol, s.Module = found.Symbol, found.Module
		}
	}
	if d.stacks != nil {
		s.Stack = d.stacks.of(r, d.resolver, d.kernelNames)
		s.Caller = d.stacks.callerOf()
	}
	d.text.Sample(s, r.Event, path)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, stream := range d.streams {
		stream.put(s)
	}
}

// kernelNames returns the kernel's symbols. They are read when the first kernel sample arrives.
func (d *drain) kernelNames() *kernelSymbols {
	if d.kernel == nil {
		d.kernel = openKernelSymbols()
	}
	return d.kernel
}

// lostInAll writes how many samples of an event did not fit into the buffers. count is the kernel's total at the end of
// the recording. It includes losses that records have already reported.
func (d *drain) lostInAll(count int64) {
	if count > 0 {
		d.text.Lost(&d.last, count, true)
	}
}

// flush writes the text. After a failure it writes nothing more, and the file ends with its last whole line. It writes
// the stacks before the samples that refer to them. So every stack ID in the samples' file is valid, even if gasm is
// killed in between.
func (d *drain) flush() {
	if d.stacks != nil && !d.stacks.flush() {
		d.text.DropStacks()
	}
	lines := d.text.Bytes()
	d.text.Reset()
	if d.failure != nil {
		return
	}
	n, err := d.file.Write(lines)
	if err != nil {
		d.failure = err
		n = bytes.LastIndexByte(lines[:n], '\n') + 1
		_ = d.file.Truncate(d.written + int64(n)) // drop the incomplete last line, which the reader would report
	}
	d.written += int64(n)
}

// nextPause returns the length of the next pause. If the last reading has found no records, the sampled processes are
// asleep, and the result is the given pause. The caller makes this pause longer and longer, because watching a sleeping
// process should cost next to nothing. Otherwise the result is at most as long as each Stream allows and, if stacks are
// recorded, at most the pause for stacks (Options.StackPause).
func (d *drain) nextPause(pause time.Duration, found bool) time.Duration {
	if !found {
		return pause
	}
	if d.stacks != nil {
		pause = min(pause, d.stacks.pause)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.streams {
		pause = min(pause, s.pause)
	}
	return pause
}

func (d *drain) subscribe(s *Stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams = append(d.streams, s)
}

// end writes the text and the stacks that are still in memory. Then it closes the files and the streams.
func (d *drain) end() error {
	d.flush()
	if d.stacks != nil {
		d.stacks.close()
	}
	if err := d.file.Close(); err != nil && d.failure == nil {
		d.failure = err
	}
	if d.kernel != nil {
		d.kernel.release()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.streams {
		close(s.in)
	}
	d.streams = nil
	if d.failure == nil {
		return nil
	}
	stopped := &failure.StoppedError{Tool: nativeTool, Cause: "the samples could not be written", Err: d.failure}
	if errors.Is(d.failure, syscall.ENOSPC) {
		stopped.Hint = "make room in " + filepath.Dir(d.file.Name())
	}
	return stopped
}

// notes returns notes about what the recording lacks. It must be called after the last record.
func (d *drain) notes() (notes []fix.Note) {
	if d.kernel != nil && d.kernel.empty() {
		notes = append(notes, NamelessKernel)
	}
	if d.stacks != nil {
		if note, failed := d.stacks.note(); failed {
			notes = append(notes, note)
		}
	}
	if d.throttled > 0 {
		notes =
			append(notes, fix.Note{Text: fmt.Sprintf("the kernel paused the sampling %d times, because samples came too fast",
				d.throttled),
				Fix: "take a lower --frequency (kernel.perf_cpu_time_max_percent limits the time that samples may take)"})
	}
	return notes
}
