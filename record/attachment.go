package record

import (
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
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/command"
	"github.com/gasm-profiler/gasm/record/processend"
	"github.com/gasm-profiler/gasm/record/windows"
	"github.com/gasm-profiler/gasm/sampler"
)

// AttachOptions say which JVMs that run are recorded, and how. Their zero values are the
// defaults, but for those that say so.
type AttachOptions struct {
	Gasm   string           // the version of gasm, for the capture's description
	JVMs   []attach.Process // not empty; all can be read
	Folder *Folder          // of the capture; not nil

	Counters  []sampler.Event // as in Options
	Frequency int             // as in Options
	// Delay and Length limit the measurement to a time after the attaching. Without a length
	// it goes on until it is stopped or the JVMs have ended.
	Delay, Length time.Duration
	// Events are the events that are recorded, as in Options.
	Events EventChoice
	// DebugInfo switches DebugNonSafepoints on in the JVMs while they are recorded.
	DebugInfo bool

	// Probes are what of the program's methods is counted meanwhile, by an agent.
	Probes []probe.Spec

	// Problem and Message are as in Options.
	Problem func(error)
	Message func(text string)
	// Window is called when the window of Delay and Length opens and closes; nil for nobody.
	Window func(WindowChange)
	// Progress is called when the sampling begins, and then each second if its first call
	// has returned true; nil for nobody.
	Progress func(AttachProgress) (again bool)
}

// AttachProgress is how far a recording of running JVMs has come.
type AttachProgress struct {
	Elapsed time.Duration
	Samples int64
	Methods int // compiled ones that the JVMs have or had
}

// Check finds out what the options say that makes no sense.
func (o *AttachOptions) Check() error {
	if o.Delay < 0 || o.Length < 0 {
		return errors.New("--delay and --length can't be negative")
	}
	return o.Events.check()
}

// An Attachment is a recording of JVMs that run already: [NewAttachment], [Attachment.Run],
// [Attachment.Finish], in this order. Only [Attachment.Signal] may be called from another
// goroutine at the same time.
type Attachment struct {
	session
	o    AttachOptions
	jvms []*attachedJVM

	samples atomic.Int64
	drain   *windowDrain // nil without

	stopOnce sync.Once
	stop     chan struct{} // closed when it is to end
	mu       sync.Mutex
	ended    bool
	stopped  syscall.Signal // the first signal to stop; 0 without
}

// An attachedJVM is a JVM that is recorded.
type attachedJVM struct {
	followedJVM
	ticks     uint64           // when it started: another process may get its id
	process   *foreign.Process // nil where it is not to have probes
	world     *foreign.World   // its files; nil likewise
	debugInfo *debugInfoSwitch // nil where it is not to be switched
	probes    *probe.Session   // nil without
	probeNote *eventNote       // while it may have probes
	sites     *sitePublisher   // nil without
	// endedMonoNanos is when it was found to have ended; 0 while it runs.
	endedMonoNanos int64
}

// NewAttachment makes a recording that has not begun.
func NewAttachment(o AttachOptions) *Attachment {
	a := &Attachment{o: o, stop: make(chan struct{})}
	a.gasm, a.folder, a.tell, a.waits, a.patience = o.Gasm, o.Folder, o.Problem, o.Message, newPatience()
	for _, j := range o.JVMs {
		a.jvms = append(a.jvms, &attachedJVM{followedJVM: followedJVM{Process: j}, ticks: processend.StartTicks(j.PID)})
	}
	return a
}

// Run samples the JVMs and follows their code until the length is over, a signal to stop
// comes, or they have ended. An error means that there is nothing to report; then nothing of
// the recording is left.
func (a *Attachment) Run() error {
	defer a.end()
	err := a.run()
	// All errors of this are problems, because the rest goes on.
	for _, j := range a.jvms {
		if j.debugInfo != nil {
			if err := j.debugInfo.restore(); err != nil {
				a.problem(err)
			}
		}
	}
	if err != nil {
		a.live.discard()
		a.folder.Remove()
	}
	return err
}

func (a *Attachment) run() error {
	if err := a.follow(); err != nil {
		a.stopFollowing()
		return err
	}
	defer a.stopProbes()
	if err := a.startProbes(); err != nil {
		a.stopFollowing()
		return err
	}
	a.beginEvents()
	defer a.live.end() // a second time it does nothing
	hertz, rateNote := frequency(a.o.Frequency, a.o.Counters)
	o := sampler.Options{Events: a.o.Counters, Frequency: hertz, PID: a.jvms[0].PID, Dir: a.folder.Path}
	for _, j := range a.jvms[1:] {
		o.MorePIDs = append(o.MorePIDs, j.PID)
	}
	var samples <-chan sampler.Sample
	var err error
	if a.sampling, samples, err = attachNative(o, rateNote); err != nil {
		a.stopFollowing()
		return err
	}
	a.clocks.start = capture.ReadClock()
	a.startedMonoNanos = a.clocks.start.MonoNanos
	told := make(chan struct{})
	go a.tellFollowers(samples, told)
	a.wait()
	if err := a.sampling.Stop(); err != nil {
		a.problem(err)
	}
	a.endedMonoNanos = monotonic.Nanos() // so that the last samples count
	a.live.end()
	<-told // all samples, so that the methods of the last ones are copied
	a.stopFollowing()
	a.clocks.end = capture.ReadClock()
	a.resolver = a.sampling.resolver()
	return nil
}

// beginEvents has the JVMs record events, and waits until they do: what they do for that is not to be
// in the profile.
func (a *Attachment) beginEvents() {
	a.followed = a.followedJVM
	a.live.begin(&a.session, a.o.Events, false)
	for _, j := range a.jvms {
		a.live.found(j.PID)
	}
	a.live.awaitBegun(a.stop)
}

// follow begins to follow the JVMs' code. One of several that has ended is a problem.
func (a *Attachment) follow() error {
	var errs []error
	following := a.jvms[:0:0]
	for _, j := range a.jvms {
		if err := a.followOne(j); err != nil {
			errs = append(errs, fmt.Errorf("JVM %s: %w", &j.Process, err))
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

func (a *Attachment) followOne(j *attachedJVM) (err error) {
	if processend.HasEnded(j.PID, j.ticks) {
		return errors.New("it has ended")
	}
	if a.o.DebugInfo {
		if j.debugInfo, err = switchDebugInfo(a.patience.begin, j.PID, j.ticks); err != nil {
			return err
		}
	}
	return j.follow(a.patience.begin, a.folder.Path, follow.Options{})
}

// followedJVM gives the JVM of a process; nil when it is none of those.
func (a *Attachment) followedJVM(pid int) *followedJVM {
	for _, j := range a.jvms {
		if j.PID == pid {
			return &j.followedJVM
		}
	}
	return nil
}

// stopFollowing ends the following of all JVMs.
func (a *Attachment) stopFollowing() {
	for _, j := range a.jvms {
		j.stop(a.patience.reach)
	}
}

// tellFollowers gives the samples that may be in compiled code to the followers. It closes
// told at the end.
func (a *Attachment) tellFollowers(samples <-chan sampler.Sample, told chan<- struct{}) {
	defer close(told)
	byPID := map[int]*attachedJVM{}
	for _, j := range a.jvms {
		byPID[j.PID] = j
	}
	for s := range samples {
		a.samples.Add(1)
		a.live.sampled(&s)
		if j := byPID[s.PID]; j != nil {
			j.sampled(&s)
		}
	}
}

// shownEvery is the time between two calls of Progress.
const shownEvery = time.Second

// wait returns when the length is over, a signal to stop has come, or all JVMs have ended.
// It sleeps meanwhile, because a JVM that does nothing is to cost next to nothing.
func (a *Attachment) wait() {
	var opened, over, shown <-chan time.Time
	sinceStart := time.Duration(monotonic.Nanos() - a.startedMonoNanos)
	if a.o.Delay > 0 {
		opened = time.After(a.o.Delay - sinceStart)
	}
	if a.o.Length > 0 {
		over = time.After(a.o.Delay + a.o.Length - sinceStart)
	}
	if a.tellProgress(0) {
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
			a.tellWindow(WindowChange{Open: true, After: a.o.Delay})
		case <-over:
			a.tellWindow(WindowChange{After: a.o.Length})
			return
		case <-a.stop:
			return
		case j := <-ended:
			j.endedMonoNanos = monotonic.Nanos()
			running--
		case <-shown:
			a.tellProgress(time.Duration(monotonic.Nanos() - a.startedMonoNanos))
		}
	}
}

func (a *Attachment) tellWindow(change WindowChange) {
	if a.o.Window != nil {
		a.o.Window(change)
	}
}

// tellProgress calls Progress. It tells whether that wants to be called again.
func (a *Attachment) tellProgress(elapsed time.Duration) (again bool) {
	if a.o.Progress == nil {
		return false
	}
	p := AttachProgress{Elapsed: elapsed, Samples: a.samples.Load()}
	for _, j := range a.jvms {
		p.Methods += j.follower.Methods()
	}
	return a.o.Progress(p)
}

// Signal takes a signal that gasm got. One to stop ends the recording. It returns false when
// that has ended: what the signal means then is up to the caller.
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
		a.patience.hurry()
	}
	return true
}

func (a *Attachment) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// StoppedBy is the signal that ended a recording, whether it had begun or not; 0 when none did.
func (a *Attachment) StoppedBy() syscall.Signal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// CutShort is the signal that ended a recording before its length was over; 0 when none
// did. A recording without a length is ended by a signal as a rule.
func (a *Attachment) CutShort() syscall.Signal {
	if a.o.Length == 0 {
		return 0
	}
	return a.StoppedBy()
}

// Finish completes the capture on disk and opens it. The caller closes it.
func (a *Attachment) Finish() (*capture.Capture, error) {
	var jvms []capture.JVM
	for _, j := range a.jvms {
		jvms = append(jvms, a.describeFollowed(&j.followedJVM))
	}
	sortByStart(jvms)
	notes := a.live.take(jvms)
	if len(a.o.Probes) > 0 {
		notes = append(notes, a.probesOf(jvms)...)
	}
	return a.complete(func() capture.Description {
		d := a.describe(jvms)
		d.Notes.Add(notes...)
		return d
	})
}

// describe gives the capture's description.
func (a *Attachment) describe(jvms []capture.JVM) capture.Description {
	d := a.description()
	d.Command, d.Attached, d.Code = []string{}, true, capture.CodeCopied
	span, note := windows.ByTime(a.wholeRun(), a.o.Delay, a.o.Length, "the sampling")
	d.JVMs, d.Trials = jvms, []capture.Trial{windows.Whole(jvms, []capture.Span{span})}
	d.Notes.Add(a.sampling.Notes()...)
	d.Notes.Add(a.problemNotes()...)
	d.Notes.Add(note, a.endNote())
	for _, j := range a.jvms {
		d.Notes.Add(j.codeNotes()...)
	}
	d.Notes.Add(a.linesNote(jvms), a.clocks.note())
	return d
}

// endNote says that JVMs have ended before they were measured for all of the length.
func (a *Attachment) endNote() string {
	if a.o.Length == 0 {
		return ""
	}
	for _, j := range a.jvms {
		if j.endedMonoNanos != 0 {
			return fmt.Sprintf("JVM %d ended after %.1f s, before --length was over", j.PID, float64(j.endedMonoNanos-a.startedMonoNanos)/1e9)
		}
	}
	return ""
}

// linesNote says what HotSpot's debug info lacks. Without DebugNonSafepoints it has the
// places in which the JVM can stop a thread, which are calls, loops' ends and the like.
func (a *Attachment) linesNote(jvms []capture.JVM) string {
	switched := slices.ContainsFunc(a.jvms, func(j *attachedJVM) bool { return j.debugInfo.switched() })
	sparse := slices.ContainsFunc(jvms, func(j capture.JVM) bool { return j.SafepointsOnly })
	switch {
	case switched:
		return "lines and frames of what HotSpot compiled before gasm attached are those of the next safepoint; what it compiled since has its own (--debug-info)"
	case sparse:
		return "lines and frames are those of the next safepoint behind an instruction, because the JVM runs without DebugNonSafepoints: " +
			"start it with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints, or attach with --debug-info, which switches that on for what is compiled from then on"
	}
	return ""
}
