package collect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// Options are the options of a recording, by perf or by gasm itself.
type Options struct {
	// Events are the events that the user named. If Events is nil, gasm samples the first of cycles:P, cycles and
	// cpu-clock that this machine has.
	Events    []sampler.Event
	Frequency int // samples per second and CPU
	// Drawn is true if the actual frequency is drawn at random. It is then 3 to 10 % above or below Frequency, so that
	// no program works in step with the samples. Native.Frequency and Perf.Frequency return the actual frequency.
	Drawn    bool
	PID      int    // the process to be sampled, which has not called exec yet; its children are sampled, too
	MorePIDs []int  // other processes; only AttachNative uses them
	Dir      string // the folder for perf.data or the text; an older file is replaced
	// Pauses is true if Pause and Resume will be called.
	Pauses bool
	// Mapped is called for each file that a process maps as code. It must return soon. It may be nil. Only recordings
	// by StartNative call it.
	Mapped func(native.Mapping)
	// Walk finds the call stacks of samples in native sampling, which writes them to Native.StacksFile. If Walk is nil,
	// no stacks are recorded, and samples cost less.
	Walk Walk
	// Caller returns the sampler.Sample.Caller of the sample that was passed to Walk last. The function may be nil.
	Caller func() uint64
	// GiveUp makes the present call of Walk return soon, with an incomplete stack. It is called from another goroutine
	// if the end of the recording takes too long. It may be nil.
	GiveUp func()
	// StackPause is the longest pause between two readings of the kernel's buffers while there are samples with stacks.
	// 0 means 50 ms. The longer it is, the less CPU time the readings take.
	StackPause time.Duration
	// StacksTo gets the text of the file with the call stacks while it is written. A piece of text may end within a
	// line. An error of StacksTo ends the recording of stacks. StacksTo may be nil.
	StacksTo io.Writer
	// StackSize is the number of bytes of a thread's stack that are copied for each sample. 0 means as many as the
	// kernel's buffers have room for, which is 64 KiB for root. Native.StackSize returns the actual number.
	StackSize int
	// LeastStack is the least number of bytes of a stack for which the kernel's buffers must have room. If they have
	// less, the recording does not start, and the error is a *failure.RefusedError. 0 accepts any number.
	LeastStack int
	// Chains makes perf record the return addresses that it finds by following frame pointers. Perf.WriteStacks writes
	// them. Native sampling ignores Chains.
	Chains bool
	// Stop calls Slow with a sentence for the user if perf takes long to end. Slow may be nil.
	Slow func(message string)
}

// A Walk finds the call stack of a sample. It pushes the frames to w, from the outermost to the innermost, and returns
// the ID of the last one. If the sample is in user space, these frames are the callers of the sampled function. If it
// is in the kernel, the last frame is the function in user space that entered the kernel. The caller of Walk adds the
// kernel's own frames. Package callstack says in detail which frames a stack has.
//
// r is a sample with a ThreadState, which is valid until Walk returns. libraries has the mappings of all processes as
// they were at the time of the sample. Walk gets the samples of all sampled processes, not only of JVMs.
//
// Walk gets the samples in the order of their times, from a single goroutine. Another goroutine empties the kernel's
// buffers meanwhile. Walk gets a sample at least 20 ms after it was taken, except at the end of a recording.
type Walk func(w *callstack.Writer, r *perfevent.Record, libraries *native.Resolver) callstack.ID

// A Perf is a recording that the program perf makes. It is running or has ended.
type Perf struct {
	tool    string
	data    string // perf.data
	events  []sampler.Event
	opened  []openedEvent // the events in perf.data; nil if it could not be read
	kernel  bool          // every event includes the kernel
	hertz   int
	notes   []fix.Note
	slow    func(message string) // may be nil
	process *external.Process
	control *os.File // nil for a perf without --control
	acks    *os.File // perf's answers to commands on control; nil without --control
	answers *bufio.Reader
	// named is true if perf's events can be disabled by name, and unnamed is true if they can't. Both are false until
	// gasm has tried it.
	named, unnamed bool

	stopOnce sync.Once
	stopErr  error
}

// Limits for the time that perf takes to end. Usually it takes a few ms. Tests shorten these limits.
var (
	slowEnd = external.SlowEnd // after this time the user is told
	lastEnd = 10 * time.Second // after this time perf is killed
)

// StartPerf attaches perf to the process and returns when perf samples. If the cause of an error is known, the error is
// a *failure.MissingToolError or a *failure.RefusedError. After an error, perf no longer runs. When ctx is done, perf
// is killed.
func StartPerf(ctx context.Context, opts Options) (*Perf, error) {
	h := machine.This()
	tool, err := exec.LookPath("perf")
	if err != nil {
		return nil, missingPerf(h, "not on PATH")
	}
	// perf 4.17 and newer lower a frequency that the kernel does not allow. An older perf refuses such a frequency, so
	// gasm lowers it here.
	var note fix.Note
	opts.Frequency, note = chooseFrequency(opts)

	r := requestFor(opts.Events, noCyclesCounter())
	var p *Perf
	var refused *failure.RefusedError // the error of the first candidate
	for _, events := range r.candidates {
		p, err = record(ctx, tool, opts, events, h)
		var e *failure.RefusedError
		if !errors.As(err, &e) || !e.Reason.OfEvent() {
			break
		}
		if refused == nil {
			refused = e
		}
	}
	if err != nil {
		return nil, err
	}
	p.hertz = opts.Frequency
	if note.Text != "" {
		p.notes = slices.Insert(p.notes, 0, note)
	}
	p.describe(r, refused)
	return p, nil
}

// Events returns the events that perf samples. If the user asked for cycles and this machine can't count them, a clock
// is sampled instead, and a note says so.
func (p *Perf) Events() []sampler.Event { return slices.Clone(p.events) }

// Notes returns a note for each difference between the recording and the request. If there is a command that fixes the
// difference, the note has it.
func (p *Perf) Notes() []fix.Note {
	notes := slices.Clone(p.notes)
	stderr := p.process.Stderr.String()
	notes = append(notes, partlyOpened(stderr)...)
	if _, ok := failure.LineWith(stderr, "kptr_restrict"); ok && p.kernel {
		notes = append(notes, NamelessKernel)
	}
	return notes
}

// Frequency returns how often perf samples, per second and CPU. It differs from Options.Frequency if it was drawn at
// random, or if the kernel allows less.
func (p *Perf) Frequency() int { return p.hertz }

// DataFile returns the path of perf's recording.
func (p *Perf) DataFile() string { return p.data }

// Stop ends the recording with one SIGINT and waits until perf has written all of it. A perf that does not end is
// killed after ten seconds, or when StartPerf's context is done. perf ends without a signal when the last process that
// it follows has ended. That is not an error. If perf failed, the error is a *failure.StoppedError, and Stop has
// repaired the data on disk so that it can be read. Further calls return the same error.
func (p *Perf) Stop() error {
	p.stopOnce.Do(func() { p.stopErr = p.stop() })
	return p.stopErr
}

func (p *Perf) stop() error {
	asked, inTime := p.process.Stop(syscall.SIGINT, slowEnd, lastEnd, func() {
		external.TellSlow(p.slow, "perf", slowEnd, fmt.Sprintf("after %s it is killed, and the samples until then are kept",
			lastEnd))
	})
	p.closeControl()
	if !inTime {
		return &failure.StoppedError{Tool: "perf", Cause: fmt.Sprintf("it was killed because SIGINT did not end it within %s",
			lastEnd),
			Err: completePerfData(p.data)}
	}
	status := p.process.Status()
	switch {
	case status.Exited() && status.ExitStatus() == 0,
		asked && status.Signaled() && status.Signal() == syscall.SIGINT,
		asked && status.Exited() && status.ExitStatus() == 128+int(syscall.SIGINT): // perf is a wrapper script
		return p.unfinished()
	}
	text := p.process.Stderr.String()
	stopped := &failure.StoppedError{Tool: "perf", Stderr: perfComplaint(text), Err: completePerfData(p.data)}
	stopped.Cause = p.process.Cmd.ProcessState.String()
	if !status.Signaled() && stopped.Stderr != "" {
		stopped.Cause = stopped.Stderr
	}
	if strings.Contains(text, "No space left") { // perf reports a full disk only in this text
		stopped.DiskFull, stopped.Hint = true, "make room in "+filepath.Dir(p.data)
	}
	return stopped
}

// unfinished returns an error if perf reported success but did not write the end of its data. If the disk is full, perf
// may do so without a message.
func (p *Perf) unfinished() error {
	f, err := os.Open(p.data)
	if err != nil {
		return nil // WriteText will return an error
	}
	h, err := readPerfHeader(f)
	f.Close()
	if err != nil || h.dataSize != 0 {
		return nil
	}
	if completePerfData(p.data) != nil {
		return nil // the file has no samples: WriteText will return an error
	}
	stopped := &failure.StoppedError{Tool: "perf", Cause: "the end of its data is missing"}
	if dir := filepath.Dir(p.data); isFull(dir) {
		stopped.Err = syscall.ENOSPC
		stopped.Hint = "make room in " + dir
	}
	return stopped
}

// isFull reports whether the disk with the folder dir is full, or so nearly full that perf could not write the next
// piece of its data.
func isFull(dir string) bool {
	var disk unix.Statfs_t
	return unix.Statfs(dir, &disk) == nil && disk.Bavail < 16
}
