package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/follow"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/command"
	"github.com/gasm-profiler/gasm/record/debuginfo"
	"github.com/gasm-profiler/gasm/record/jvmevents"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/record/probes"
	"github.com/gasm-profiler/gasm/record/processend"
	"github.com/gasm-profiler/gasm/record/windows"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// AttachOptions say which running JVMs are recorded, and how. If a field is not set (has its zero value), the default
// applies, unless the field's comment says otherwise.
type AttachOptions struct {
	Gasm   string           // the version of gasm, for the capture's description
	JVMs   []attach.Process // at least one; their memory can be read
	Folder *Folder          // the capture's folder; not nil

	Counters  []sampler.Event // as in Options
	Frequency int             // as in Options
	// FixedFrequency and Stacks are as in Options.
	FixedFrequency bool
	Stacks         StackChoice
	WallHertz      int // as in Options
	// The measurement begins Delay after the start of the sampling, and ends Length later. If Length is 0, it ends when
	// a signal stops it, or when all JVMs have ended.
	Delay, Length time.Duration
	// Events are the events in the JVMs that are recorded, as in Options.
	Events EventChoice
	// DebugInfo is true if gasm switches on the JVM flag DebugNonSafepoints in the JVMs while it records them.
	DebugInfo bool

	// Probes say what gasm's agent counts in the program's methods during the recording.
	Probes []probe.Spec
	// WindowMethod is as in Options.
	WindowMethod *probe.Spec

	// Problem and Message are as in Options.
	Problem func(error)
	Message func(text string)
	// Window is called when the measurement begins (after Delay) and when it ends (after Length). It may be nil.
	Window func(WindowChange)
	// Progress is called when the sampling begins. If this call returns true, or if Live is set, Progress is called
	// again each second. It may be nil.
	Progress func(AttachProgress) (again bool)
	// Pause is the longest time between the arrival of a sample and the moment at which gasm processes it. 0 means 50
	// ms. A longer Pause costs less CPU time, but then the JVM replaces more of the sampled methods before gasm can
	// copy them.
	Pause time.Duration
	// Before is an earlier recording, which may still be running. JVMs that it has open are not opened a second time.
	// It may be nil.
	Before *Attachment
	// NoThreadNames is true if gasm should not read the names of threads from the JVMs' memory. The names that the
	// kernel has are then used.
	NoThreadNames bool
	// Live receives the samples, the code and the stacks while they are recorded. It may be nil.
	Live Live
}

// Live receives what an Attachment records while the recording goes on, so that a program can show it at once. The
// methods are called from several goroutines. The recording waits for each call, so the methods must return soon. They
// must not keep their arguments.
type Live interface {
	// Begin is called before all other methods. frequency is the number of samples per second and CPU of each event.
	Begin(frequency int, events []sampler.Event)
	// Code is called with each piece of text that gasm writes to the log of a JVM's code. The first piece begins with
	// the head of the log. Each piece consists of whole lines and whole methods.
	Code(pid int, text []byte)
	// Write is called with each piece of text that gasm writes to the file of call stacks. A piece may end within a
	// line. The stack of a sample may come a moment after the sample.
	Write(stacks []byte) (int, error)
	// Sample is called with each sample.
	Sample(*sampler.Sample)
	// Lost is called about once a second with the number of samples that were lost so far.
	Lost(total int64)
}

// AttachProgress has the numbers that are shown to the user during a recording of running JVMs.
type AttachProgress struct {
	Elapsed time.Duration
	Samples int64
	Methods int // number of methods compiled so far, including those that the JVM has removed
}

// Check returns an error for options that make no sense.
func (o *AttachOptions) Check() error {
	if o.Delay < 0 || o.Length < 0 {
		return errors.New("--delay and --length can't be negative")
	}
	if err := o.Events.Check(); err != nil {
		return err
	}
	if err := checkWall(o.WallHertz); err != nil {
		return err
	}
	return checkStacks(o.Stacks, SamplerNative)
}

// An Attachment is a recording of JVMs that were already running. Its functions are called in the order
// [NewAttachment], [Attachment.Run], [Attachment.Finish]. Only [Attachment.Signal] may be called from another goroutine
// at the same time.
type Attachment struct {
	session
	o    AttachOptions
	jvms []*attachedJVM

	samples atomic.Int64

	stopOnce sync.Once
	stop     chan struct{} // closed by Signal to end the recording
	mu       sync.Mutex
	ended    bool
	stopped  syscall.Signal // the first signal that stopped the recording; 0 if there was none
}

// An attachedJVM is a JVM that is recorded.
type attachedJVM struct {
	followedJVM
	ticks     uint64            // start time of the process; distinguishes it from a later process with the same id
	debugInfo *debuginfo.Switch // nil unless gasm has switched DebugNonSafepoints on
	// endedMonoNanos is the time at which gasm noticed that the JVM had ended. It is 0 while the JVM runs.
	endedMonoNanos int64
}

// NewAttachment returns a recording that has not begun yet.
func NewAttachment(o AttachOptions) *Attachment {
	a := &Attachment{o: o, stop: make(chan struct{})}
	a.gasm, a.folder, a.onProblem, a.patience = o.Gasm, o.Folder, o.Problem, patience.New(o.Message)
	a.stacks = planStacks(o.Stacks, SamplerNative, nil)
	a.o.Probes = a.stacks.addWindow(o.Probes, o.WindowMethod, o.Counters, o.Frequency)
	if a.open = shared.NewJVMs(); o.Before != nil {
		a.open = o.Before.open
	}
	a.refusedBefore, a.o.Before = a.open.Refused(), nil // so that the other recording can be freed
	a.walls.hertz = o.WallHertz
	for _, j := range o.JVMs {
		a.jvms = append(a.jvms, &attachedJVM{followedJVM: followedJVM{Process: j}, ticks: processend.StartTicks(j.PID)})
	}
	return a
}

// Run samples the JVMs and copies their code until Length is over, a signal stops the recording, or all JVMs have
// ended. If Run returns an error, there is nothing to report, and Run has removed the capture's folder.
func (a *Attachment) Run(ctx context.Context) error {
	defer a.end()
	err := a.run(ctx)
	// If Restore fails for a JVM, report that as a problem, and continue with the others.
	for _, j := range a.jvms {
		if j.debugInfo != nil {
			if err := j.debugInfo.Restore(ctx); err != nil {
				a.problem(err)
			}
		}
	}
	if err != nil {
		a.events.Discard()
		a.folder.Remove()
	}
	return err
}

func (a *Attachment) run(ctx context.Context) error {
	defer a.stopFollowing(ctx) // it is also called below; a second call does nothing
	if err := a.follow(ctx); err != nil {
		return err
	}
	attached := probes.NewAttached(probes.Options{Specs: a.o.Probes, Dir: a.folder.Path, Patience: a.patience,
		Problem: a.problem, Message: a.o.Message})
	defer attached.Stop(ctx)
	if err := attached.Start(ctx, a.probed()); err != nil {
		return err
	}
	a.beginEvents(ctx)
	defer a.events.End(ctx) // End is called below; a second call does nothing
	o := collect.Options{Events: a.o.Counters, Drawn: !a.o.FixedFrequency, PID: a.jvms[0].PID, Dir: a.folder.Path,
		StackPause: a.o.Pause}
	for _, j := range a.jvms[1:] {
		o.MorePIDs = append(o.MorePIDs, j.PID)
	}
	if a.o.Live != nil {
		o.StacksTo = a.o.Live
	}
	var samples <-chan sampler.Sample
	var err error
	if a.sampling, samples, err = a.attachNative(a.patience.Begin(ctx), o); err != nil {
		return err
	}
	a.clocks.start = capture.ReadClock()
	a.startedMonoNanos = a.clocks.start.MonoNanos
	delivered := make(chan struct{})
	if a.o.Live != nil {
		a.o.Live.Begin(a.sampling.Frequency(), a.sampling.Events())
	}
	go a.deliver(samples, delivered)
	for _, j := range a.jvms {
		a.beginWall(j.PID)
	}
	a.wait()
	a.endWalls(ctx)
	if err := a.sampling.Stop(a.patience.Name(context.WithoutCancel(ctx))); err != nil {
		a.problem(err)
	}
	a.endedMonoNanos = monotonic.Nanos() // read after the last sample, so that this sample is within the recorded time
	a.events.End(ctx)
	<-delivered // wait until the methods of the last samples are copied, too
	a.stopFollowing(ctx)
	a.clocks.end = capture.ReadClock()
	a.resolver = a.sampling.resolver()
	return nil
}

// beginEvents makes the JVMs record events. It waits until they have begun to do so. Otherwise the profile would
// include the work of switching the events on.
func (a *Attachment) beginEvents(ctx context.Context) {
	a.followed = a.followedJVM
	a.events = a.newEvents(jvmevents.Options{Choice: a.o.Events})
	for _, j := range a.jvms {
		a.events.Found(ctx, j.PID)
	}
	a.events.AwaitBegun(a.stop)
}

// A JVMError says why one of several JVMs can't be recorded.
type JVMError struct {
	JVM attach.Process
	Err error
}

func (e *JVMError) Error() string { return fmt.Sprintf("JVM %s: %v", &e.JVM, e.Err) }

// Unwrap returns the reason.
func (e *JVMError) Unwrap() error { return e.Err }

// follow begins to copy the code of all JVMs. If that fails for a JVM, for example because the JVM has ended, follow
// reports a *JVMError and leaves this JVM out. If it fails for all JVMs, follow returns all these errors, joined.
func (a *Attachment) follow(ctx context.Context) error {
	var errs []error
	following := a.jvms[:0:0]
	for _, j := range a.jvms {
		if err := a.followOne(ctx, j); err != nil {
			errs = append(errs, &JVMError{j.Process, err})
			continue
		}
		following = append(following, j)
	}
	if len(following) == 0 {
		return errors.Join(errs...)
	}
	a.jvms = following
	for _, err := range errs {
		a.problem(err)
	}
	return nil
}

func (a *Attachment) followOne(ctx context.Context, j *attachedJVM) (err error) {
	begin := a.patience.Begin(ctx)
	if processend.HasEnded(j.PID, j.ticks) {
		return foreign.ErrEnded
	}
	if a.o.DebugInfo {
		if j.debugInfo, err = debuginfo.SwitchOn(begin, j.PID, j.ticks); err != nil {
			return err
		}
	}
	o := follow.Options{JVMs: a.open, NoThreadNames: a.o.NoThreadNames, ShortestPause: a.o.Pause / 4}
	if a.o.Live != nil {
		o.Written = func(text []byte) { a.o.Live.Code(j.PID, text) }
	}
	return j.follow(begin, a.folder.Path, o)
}

// probed returns the recorded JVMs in the form that package probes needs.
func (a *Attachment) probed() (jvms []probes.JVM) {
	for _, j := range a.jvms {
		jvms = append(jvms, probes.JVM{PID: j.PID, Ticks: j.ticks})
	}
	return jvms
}

// followedJVM returns the JVM with a process id, or nil if the process is not one of the recorded JVMs.
func (a *Attachment) followedJVM(pid int) *followedJVM {
	for _, j := range a.jvms {
		if j.PID == pid {
			return &j.followedJVM
		}
	}
	return nil
}

// stopFollowing ends the copying of all JVMs' code. It does so in parallel, because a JVM that does not answer must not
// delay the others.
func (a *Attachment) stopFollowing(ctx context.Context) {
	reach := a.patience.Reach(context.WithoutCancel(ctx))
	var stopping sync.WaitGroup
	for _, j := range a.jvms {
		stopping.Go(func() { j.stop(reach) })
	}
	stopping.Wait()
}

// deliver passes each sample to the follower that copies the code of the sample's JVM, and to the recorder of the JVMs'
// events. At the end it closes the channel delivered.
func (a *Attachment) deliver(samples <-chan sampler.Sample, delivered chan<- struct{}) {
	defer close(delivered)
	byPID := map[int]*attachedJVM{}
	for _, j := range a.jvms {
		byPID[j.PID] = j
	}
	for s := range samples {
		a.samples.Add(1)
		if a.o.Live != nil {
			a.o.Live.Sample(&s)
		}
		a.events.Sampled(&s)
		if j := byPID[s.PID]; j != nil {
			j.sampled(&s)
		}
	}
}

// shownEvery is the time between two calls of Progress.
const shownEvery = time.Second

// wait returns when Length is over, a signal has stopped the recording, or all JVMs have ended. Until then it sleeps,
// because the recording of an idle JVM should cost next to nothing.
func (a *Attachment) wait() {
	var opened, over, shown <-chan time.Time
	sinceStart := time.Duration(monotonic.Nanos() - a.startedMonoNanos)
	if a.o.Delay > 0 {
		opened = time.After(a.o.Delay - sinceStart)
	}
	if a.o.Length > 0 {
		over = time.After(a.o.Delay + a.o.Length - sinceStart)
	}
	if a.sayProgress(0) || a.o.Live != nil {
		ticker := time.NewTicker(shownEvery)
		defer ticker.Stop()
		shown = ticker.C
	}
	ended, done := make(chan *attachedJVM), make(chan struct{})
	defer close(done)
	for _, j := range a.jvms {
		go func() {
			if !processend.Await(j.PID, j.ticks, done) {
				return
			}
			select {
			case ended <- j:
			case <-done:
			}
		}()
	}
	for running := len(a.jvms); running > 0; {
		select {
		case <-opened:
			a.sayWindow(WindowChange{Open: true, After: a.o.Delay})
		case <-over:
			a.sayWindow(WindowChange{After: a.o.Length})
			return
		case <-a.stop:
			return
		case j := <-ended:
			j.endedMonoNanos = monotonic.Nanos()
			running--
		case <-shown:
			a.sayProgress(time.Duration(monotonic.Nanos() - a.startedMonoNanos))
		}
	}
}

func (a *Attachment) sayWindow(change WindowChange) {
	if a.o.Window != nil {
		a.o.Window(change)
	}
}

// sayProgress calls Progress, and reports whether Progress wants to be called again. It returns false if Progress is
// nil.
func (a *Attachment) sayProgress(elapsed time.Duration) (again bool) {
	if a.o.Live != nil {
		a.o.Live.Lost(a.sampling.lostSoFar())
	}
	if a.o.Progress == nil {
		return false
	}
	p := AttachProgress{Elapsed: elapsed, Samples: a.samples.Load()}
	for _, j := range a.jvms {
		p.Methods += j.follower.Methods()
	}
	return a.o.Progress(p)
}

// Signal handles a signal that gasm has received. A signal that stops programs, such as SIGINT, ends the recording. If
// the recording has already ended, Signal returns false, and the caller decides what the signal means.
func (a *Attachment) Signal(sig syscall.Signal) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	if command.Stops(sig) {
		if a.stopped == 0 {
			a.stopped = sig
		}
		a.stopOnce.Do(func() { close(a.stop) })
		a.patience.Hurry()
	}
	return true
}

func (a *Attachment) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// StoppedBy returns the signal that ended the recording, or that came before the recording began. It returns 0 if there
// was no such signal.
func (a *Attachment) StoppedBy() syscall.Signal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// CutShort returns the signal that ended the recording before Length was over, or 0. If no Length was set, it returns
// 0, because a signal is then the usual end of a recording.
func (a *Attachment) CutShort() syscall.Signal {
	if a.o.Length == 0 {
		return 0
	}
	return a.StoppedBy()
}

// Finish completes the capture on disk and opens it. The caller must close it.
func (a *Attachment) Finish(ctx context.Context) (*capture.Capture, error) {
	var jvms []capture.JVM
	for _, j := range a.jvms {
		jvms = append(jvms, a.describeFollowed(&j.followedJVM))
	}
	sortByStart(jvms)
	notes := a.events.Take(jvms, a.startedMonoNanos)
	if len(a.o.Probes) > 0 {
		notes = append(notes, probes.Notes(a.folder.Path, jvms, a.problem)...)
	}
	return a.complete(ctx, func() capture.Description {
		d := a.describe(jvms)
		d.Notes.Add(notes...)
		return d
	})
}

// describe returns the capture's description.
func (a *Attachment) describe(jvms []capture.JVM) capture.Description {
	d := a.description()
	d.Command, d.Attached, d.Code = []string{}, true, capture.CodeCopied
	span, note := windows.ByTime(a.wholeRun(), a.o.Delay, a.o.Length, "the sampling")
	d.JVMs, d.Trials = jvms, []capture.Trial{windows.Whole(jvms, []capture.Span{span})}
	d.Notes.Add(a.sampling.Notes()...)
	d.Notes.Add(a.problemNotes()...)
	d.Notes.Add(a.walls.notes()...)
	d.Notes.Add(a.stacks.noteText(), note, a.endNote())
	for _, j := range a.jvms {
		d.Notes.Add(j.codeNotes()...)
	}
	d.Notes.Add(a.linesNote(jvms), a.clocks.note())
	return d
}

// endNote returns a note if a JVM ended before Length was over, and otherwise "".
func (a *Attachment) endNote() string {
	if a.o.Length == 0 {
		return ""
	}
	for _, j := range a.jvms {
		if j.endedMonoNanos != 0 {
			return fmt.Sprintf("JVM %d ended after %.1f s, before --length was over", j.PID,
				float64(j.endedMonoNanos-a.startedMonoNanos)/1e9)
		}
	}
	return ""
}

// linesNote returns a note about code whose debug info is incomplete, or "" if there is no such code. If the JVM flag
// DebugNonSafepoints is off, debug info describes only the places where the JVM can stop a thread, such as calls and
// the ends of loops.
func (a *Attachment) linesNote(jvms []capture.JVM) string {
	switched := slices.ContainsFunc(a.jvms, func(j *attachedJVM) bool { return j.debugInfo.Switched() })
	sparse := slices.ContainsFunc(jvms, func(j capture.JVM) bool { return j.SafepointsOnly })
	switch {
	case switched:
		return "lines and frames with ~ are guesses, in what HotSpot compiled before gasm attached; what it compiled since has its own (--debug-info)"
	case sparse:
		return "lines and frames with ~ are guesses, because the JVM was started without DebugNonSafepoints: " +
			"start it with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints, or attach with --debug-info, which switches that on for what is compiled from then on"
	}
	return ""
}
