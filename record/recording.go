package record

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/command"
	"github.com/gasm-profiler/gasm/record/jvmevents"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/record/probes"
	"github.com/gasm-profiler/gasm/record/windows"
)

// ErrNotRun is the error of Run if a signal stopped gasm before the command ran.
var ErrNotRun = errors.New("stopped before the command ran")

// ErrNoJVM means that the command started no JVM. The error of Finish wraps it. After this error, the capture's folder
// has nothing that is worth keeping.
var ErrNoJVM = errors.New("there is nothing to report")

// A Recording is a recording of one command. Its functions are called in the order [New], [Recording.Run],
// [Recording.Finish], [Recording.Wait]. Only [Recording.Signal] may be called from another goroutine at the same time.
type Recording struct {
	session
	o         Options
	rules     windows.Rules
	output    *windows.Output
	jmhFiles  *windows.JMHFiles
	code      codeSource
	codeNote  string // the note of chooseCode; may be ""
	longNote  string // says that the options are too long for JDK 8; "" if they are not
	eventLogs eventLogs
	// recordingOption is the option that starts Flight Recorder with the JVMs; nil if there is none.
	recordingOption *jvmevents.RecordingOption
	publisher       *probes.Publisher // nil if there are no probes for other tracers (--probe-sdt)
	exitCode        int
	endOnce         sync.Once // for endSampling
	over            bool      // the sampling ended while the command ran, because no further window would open

	mu          sync.Mutex
	command     *command.Held // gets signals; nil unless the command runs
	ended       bool
	interrupted bool           // gasm has received SIGINT (Ctrl-C)
	early       syscall.Signal // the first signal that stopped gasm before the command ran; 0 if there was none
	cancelStart func()         // ends the wait for a sampler that is still starting; nil before it starts
}

// New returns a recording that has not begun yet.
func New(o Options) *Recording {
	r := &Recording{o: o, rules: o.rules()}
	r.output = windows.NewOutput(r.rules)
	r.gasm, r.folder, r.onProblem, r.progress, r.patience = o.Gasm, o.Folder, o.Problem, o.Progress, patience.New(nil)
	r.stacks = planStacks(o.Stacks, o.Sampler, o.Command)
	r.o.Probes = r.stacks.addWindow(o.Probes, o.WindowMethod, o.Counters, o.Frequency)
	r.open = shared.NewJVMs()
	r.walls.hertz = o.WallHertz
	r.clocks.found = map[int]capture.Clock{}
	r.code, r.codeNote = r.chooseCode()
	return r
}

// Run runs the command and the sampler until the command has ended. If it returns an error, the command did not run,
// and Run has removed the capture's folder. When ctx is done, the sampler is killed.
func (r *Recording) Run(ctx context.Context) error {
	err := r.run(ctx)
	if err == nil {
		return nil
	}
	if r.StoppedBy() != 0 {
		err = ErrNotRun // the signal is the reason for any other error
	}
	if r.sampling != nil {
		_ = r.sampling.Stop(r.patience.Reach(ctx)) // an error does not matter: there are no samples yet
		r.sampling.wait()
		r.sampling.discard()
	}
	r.events.End(ctx)
	r.events.Discard()
	r.o.Folder.Remove()
	return err
}

// run does the work of Run. After an error, its deferred functions undo the steps so far, in reverse order.
func (r *Recording) run(ctx context.Context) (err error) {
	flags, err := r.javaFlags()
	if err != nil {
		return err
	}
	defer r.publisher.End()
	held, err := r.hold(flags)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			held.Abandon()
			r.stoppedEarly(held.StoppedBy())
		}
	}()
	r.jmhFiles = windows.NewJMHFiles(r.output)
	r.jmhFiles.FollowCommand(r.o.Command)
	defer r.jmhFiles.Stop()
	if live, ok := r.code.(*liveCode); ok {
		r.followed = live.followed
	}
	choice := r.o.Events
	choice.Sudo = r.o.Sudo
	if !r.logsEvents() {
		choice.Log = nil
	}
	r.events = r.newEvents(jvmevents.Options{Choice: choice, LogPattern: r.eventLogs.pattern, Started: r.recordingOption})
	if r.sampling, err = r.startSampler(ctx, held.PID()); err != nil {
		return err
	}
	if tool := r.sampling.tool(); tool != SamplerNative {
		r.stacks.usedOther(tool)
	}
	r.clocks.start = capture.ReadClock()
	if err := r.code.begin(ctx, r.sampling, held.PID()); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = r.sampling.Stop(r.patience.Reach(ctx)) // first, because code.end waits for the last sample
			r.code.end(ctx)
		}
	}()
	if err := r.release(held); err != nil {
		return err
	}
	keeper := r.keepWindows(ctx, held)
	drain := r.drainWindows()
	r.exitCode = held.Wait()
	r.endedMonoNanos = monotonic.Nanos()
	r.commandEnded()
	drain.End(r.patience.Reach(context.WithoutCancel(ctx)))
	keeper.End()
	r.endSampling(ctx)
	r.clocks.end = capture.ReadClock()
	return nil
}

// javaFlags returns the options for the command's JVMs. It makes the files that these options need.
func (r *Recording) javaFlags() (javaFlags, error) {
	flags, err := r.code.javaFlags()
	if err != nil {
		return flags, err
	}
	if flags, err = r.addRecordingFlag(r.addEventFlag(flags)); err != nil {
		return flags, err
	}
	flags, err = r.addProbeFlag(r.addUSDTFlags(flags))
	r.longNote = flags.longNote(r.o.Command)
	return flags, err
}

// hold makes the process that becomes the command. The process waits for its release before it executes the command
// (exec).
func (r *Recording) hold(flags javaFlags) (*command.Held, error) {
	o := command.Options{Command: flags.addToCommand(r.o.Command), Env: flags.addTo(os.Environ()), Stdin: r.o.Stdin,
		Stdout: r.o.Stdout, Stderr: r.o.Stderr,
		SeeStdout: r.output.See, OneStream: r.output.OneStream()}
	if r.rules.ByLines() && r.o.WindowFrom != FromStdout {
		o.SeeStderr = r.output.SeeStderr
	}
	return command.Start(o)
}

// release lets the command run. From then on, Signal passes signals on to the command. If a signal has already stopped
// the recording, the result is ErrNotRun instead.
func (r *Recording) release(held *command.Held) error {
	r.mu.Lock()
	stopped := r.early != 0
	if !stopped {
		r.command = held
	}
	r.mu.Unlock()
	if stopped {
		return ErrNotRun
	}
	r.events.Expect(r.sampling)
	if err := held.Release(); err != nil {
		r.commandEnded()
		return err
	}
	r.startedMonoNanos = monotonic.Nanos() // after the exec, because earlier samples are in gasm's own code
	return nil
}

// endSampling ends the sampling and the copying of code. A second call does nothing.
func (r *Recording) endSampling(ctx context.Context) {
	r.endOnce.Do(func() {
		r.endWalls(ctx)
		if err := r.sampling.Stop(r.patience.Reach(context.WithoutCancel(ctx))); err != nil {
			r.problem(err)
		}
		r.events.End(ctx)
		r.resolver = r.code.end(ctx)
		if named := r.sampling.resolver(); named != nil {
			r.resolver = named
		}
	})
}

// windowsOver ends the sampling and the copying of code before the command ends, because no further window will open.
func (r *Recording) windowsOver(ctx context.Context) {
	r.over = true
	r.turn(r.sampling.Pause) // pause at once, because stopping a sampler may take a while
	r.endSampling(ctx)
}

// pause suspends the sampling and the copying of code until resume is called.
func (r *Recording) pause() {
	r.turn(r.sampling.Pause)
	r.code.pause()
}

func (r *Recording) resume() {
	r.turn(r.sampling.Resume)
	r.code.resume()
}

// turn calls sampler, which is the sampler's method Pause or Resume. It reports an error as a problem. If Pause fails,
// there are samples outside of the windows, which do no harm. But if Resume fails, the next window has no samples, and
// the user must know that.
func (r *Recording) turn(sampler func() error) {
	if err := sampler(); err != nil {
		r.problem(err)
	}
}

// lineWait limits how long a message about a window is delayed while the command is writing a line. Without the delay,
// the message could appear in the middle of that line.
const lineWait = 250 * time.Millisecond

// keepWindows begins to open and close windows. It is called when the command has just started.
func (r *Recording) keepWindows(ctx context.Context, held *command.Held) *windows.Keeper {
	return windows.Keep(windows.Kept{Rules: r.rules, Output: r.output, StartedMonoNanos: r.startedMonoNanos,
		Pause: r.pause, Resume: r.resume, Over: func() { r.windowsOver(ctx) },
		Changed: func(change WindowChange) {
			held.AwaitLineEnd(lineWait)
			if r.o.Window != nil {
				r.o.Window(change)
			}
		}})
}

// Wait waits until the sampler has ended completely. DTrace takes seconds to end, so call Wait after showing the
// report.
func (r *Recording) Wait() {
	if r.sampling != nil {
		r.sampling.wait()
	}
}

// ExitCode returns the command's exit code, or 128 + n if signal n killed the command.
func (r *Recording) ExitCode() int { return r.exitCode }

// Signal handles a signal that gasm has received. While the command runs, Signal passes the signal on to the command.
// So a user who stops gasm stops the command, and still gets a report. Before the command runs, a signal such as
// SIGINT means that the command must not run. After the command has ended, Signal returns false, and the caller
// decides what the signal means.
func (r *Recording) Signal(sig syscall.Signal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interrupted = r.interrupted || sig == syscall.SIGINT
	switch {
	case r.ended:
		if command.Stops(sig) {
			r.patience.Hurry()
		}
		return false
	case r.command != nil:
		r.command.HandOn(sig)
	case command.Stops(sig) && r.early == 0:
		r.early = sig
		if r.cancelStart != nil {
			r.cancelStart()
		}
	}
	return true
}

// untilStopped returns a context for starting a sampler. If a signal stops the recording before the command runs, the
// context is cancelled, which kills the sampler.
func (r *Recording) untilStopped(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancelStart = cancel
	if r.early != 0 {
		cancel()
	}
	return ctx
}

// stoppedEarly records that the signal sig stopped the recording before the command ran. It does nothing if sig is 0,
// or if an earlier signal is already recorded.
func (r *Recording) stoppedEarly(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early == 0 {
		r.early = sig
	}
}

// StoppedBy returns the signal that stopped the recording before the command ran, or 0 if there was none.
func (r *Recording) StoppedBy() syscall.Signal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.early
}

// Interrupted reports whether gasm has received SIGINT (Ctrl-C) at any time so far.
func (r *Recording) Interrupted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.interrupted
}

// commandEnded records that the command has ended, so that no further signals are passed on to it.
func (r *Recording) commandEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.command, r.ended = nil, true
}

// Finish completes the capture on disk and opens it. The caller must close it.
func (r *Recording) Finish(ctx context.Context) (*capture.Capture, error) {
	jvms, notes, err := r.code.finish()
	if err != nil {
		r.events.Discard()
		return nil, err
	}
	notes = append(notes, r.takeEvents(jvms)...)
	notes = append(notes, r.takeProbes(jvms)...)
	notes = append(notes, r.events.Take(jvms, r.startedMonoNanos)...)
	return r.complete(ctx, func() capture.Description {
		d := r.describe(jvms)
		d.Notes.Add(notes...)
		return d
	})
}

// describe returns the capture's description. It also sets the field Fork of each JVM that is one of JMH's forks.
func (r *Recording) describe(jvms []capture.JVM) capture.Description {
	trials, windowNotes := r.rules.Trials(&windows.Run{Command: r.o.Command, Span: r.wholeRun(),
		StartedWallNanos: r.clocks.start.WallNanos, JVMs: jvms, Output: r.output})
	d := r.description()
	d.Command, d.Code, d.Selection, d.JVMs, d.Trials, d.ExitCode =
		r.o.Command, r.code.kind(), r.o.selectionText(), jvms, trials, r.exitCode
	d.Notes.Add(r.sampling.Notes()...)
	d.Notes.Add(r.stacks.noteText(), r.stacks.lateJMH(len(trials) > 0 && trials[0].Name != ""), r.codeNote,
		r.o.selectionNote(), r.longNote)
	d.Notes.Add(r.problemNotes()...)
	d.Notes.Add(r.walls.notes()...)
	d.Notes.Add(windowNotes...)
	d.Notes.Add(r.blackholeNote(), r.clocks.note())
	return d
}
