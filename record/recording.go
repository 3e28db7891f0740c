package record

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/command"
	"github.com/gasm-profiler/gasm/record/windows"
)

// ErrNotRun is the error of a command that was stopped before it ran.
var ErrNotRun = errors.New("stopped before the command ran")

// ErrNoJVM is wrapped by the error of a command that started no JVM. Nothing that it
// left is worth keeping.
var ErrNoJVM = errors.New("no code, no report")

// A Recording is one command that is recorded: [New], [Recording.Run],
// [Recording.Finish], and [Recording.Wait], in this order. Only [Recording.Signal] may
// be called from another goroutine at the same time.
type Recording struct {
	session
	o        Options
	rules    windows.Rules
	output   *windows.Output
	jmhFiles *windows.JMHFiles
	code     codeWay
	codeNote string // that code is had in another way than it was asked for
	longNote string // that the options are too long for JDK 8
	events   eventLogs
	sites    *sitePublisher // nil without
	exitCode int
	endOnce  sync.Once // ends the sampling and the following of code
	over     bool      // they ended while the command ran, because no window was to open any more

	mu      sync.Mutex
	command *command.Held // while it runs, for signals
	ended   bool
	ctrlC   bool
	early   syscall.Signal // the first signal to stop before the command ran; 0 without
	// stopped is done with that signal. A perf that is still starting is not waited for.
	stopped context.Context
	stop    context.CancelFunc
}

// New makes a recording that has not begun.
func New(o Options) *Recording {
	r := &Recording{o: o, rules: o.rules()}
	r.output = windows.NewOutput(r.rules)
	r.gasm, r.folder, r.tell, r.progress, r.patience = o.Gasm, o.Folder, o.Problem, o.Progress, newPatience()
	r.clocks.found = map[int]capture.Clock{}
	r.code, r.codeNote = r.chooseCode()
	r.stopped, r.stop = context.WithCancel(context.Background())
	return r
}

// Run runs the command with the sampler beside it, until the command has ended. An
// error means that the command did not run; then nothing of the recording is left.
func (r *Recording) Run() error {
	err := r.run()
	if err != nil {
		if r.StoppedBy() != 0 {
			err = ErrNotRun // and not what came of it
		}
		if r.sampling != nil {
			_ = r.sampling.Stop() // it has sampled nothing that could be lost
			r.sampling.wait()
			r.sampling.discard()
		}
		r.live.end()
		r.live.discard()
		r.o.Folder.Remove()
	}
	return err
}

func (r *Recording) run() error {
	flags, err := r.code.javaFlags()
	if err != nil {
		return err
	}
	flags = r.addUSDTFlags(r.addEventFlag(flags))
	if flags, err = r.addProbeFlag(flags); err != nil {
		return err
	}
	defer r.sites.end()
	r.longNote = flags.longNote(r.o.Command)
	o := command.Options{Command: r.o.Command, Env: flags.addTo(os.Environ()), Stdin: r.o.Stdin, Stdout: r.o.Stdout, Stderr: r.o.Stderr,
		SeeStdout: r.output.See, OneStream: r.output.OneStream()}
	if r.rules.ByLines() && r.o.WindowFrom != FromStdout {
		o.SeeStderr = r.output.SeeStderr
	}
	held, err := command.Start(o)
	if err != nil {
		return err
	}
	r.jmhFiles = windows.NewJMHFiles(r.output)
	r.jmhFiles.FollowCommand(r.o.Command)
	defer r.jmhFiles.Stop()
	if r.sampling, err = r.startSampler(held.PID()); err != nil {
		held.Abandon()
		r.stoppedEarly(held.StoppedBy())
		return err
	}
	r.clocks.start = capture.ReadClock()
	if live, ok := r.code.(*liveCode); ok {
		r.followed = live.followed
	}
	choice := r.o.Events
	choice.Sudo = r.o.Sudo
	r.live.begin(&r.session, choice, true)
	if err := r.code.begin(r.sampling, held.PID()); err != nil {
		held.Abandon()
		return err
	}
	if !r.begin(held) {
		r.endCode()
		held.Abandon()
		return ErrNotRun
	}
	r.live.usdt.expect(r.sampling)
	if err := held.Release(); err != nil {
		r.end()
		r.endCode()
		r.stoppedEarly(held.StoppedBy())
		return err
	}
	r.startedMonoNanos = monotonic.Nanos() // behind the exec: what came before is gasm's own
	keeper := r.keepWindows(held)
	drain := r.drainWindows(r.o.Probes, r.ringFiles)
	r.exitCode = held.Wait()
	r.endedMonoNanos = monotonic.Nanos()
	r.end()
	drain.end()
	keeper.End()
	r.endSampling()
	r.clocks.end = capture.ReadClock()
	return nil
}

// endSampling ends the sampling and the following of code.
func (r *Recording) endSampling() {
	r.endOnce.Do(func() {
		if err := r.sampling.Stop(); err != nil {
			r.problem(err)
		}
		r.live.end()
		r.resolver = r.code.end()
		if named := r.sampling.resolver(); named != nil {
			r.resolver = named
		}
	})
}

// windowsOver ends the sampling and the following of code while the command runs, because no
// window will open any more.
func (r *Recording) windowsOver() {
	r.over = true
	r.turn(r.sampling.Pause) // at once; to stop a sampler may take a while
	r.endSampling()
}

// pause has no samples taken and no code followed until resume.
func (r *Recording) pause() {
	r.turn(r.sampling.Pause)
	r.code.pause()
}

func (r *Recording) resume() {
	r.turn(r.sampling.Resume)
	r.code.resume()
}

// turn switches the sampler. Where that fails there are samples outside of the windows, which
// do no harm, or none inside, which is to be told.
func (r *Recording) turn(sampler func() error) {
	if err := sampler(); err != nil {
		r.problem(err)
	}
}

// endCode ends what the code of a command that did not run was to be had by. It waits for
// the last sample, so the sampler is stopped first; it has sampled nothing that could be lost.
func (r *Recording) endCode() {
	_ = r.sampling.Stop()
	r.code.end()
}

// Wait waits until nothing is left of the sampler. DTrace takes seconds to end, so
// this is for after the report.
func (r *Recording) Wait() {
	if r.sampling != nil {
		r.sampling.wait()
	}
}

// ExitCode is the command's: 128 + n when signal n killed it.
func (r *Recording) ExitCode() int { return r.exitCode }

// Signal takes a signal that gasm got. While the command runs, it is handed to the
// command, so that stopping gasm stops the command and still gives a report. Before,
// a signal to stop means that the command is not to run. It returns false when the
// command has ended: what the signal means then is up to the caller.
func (r *Recording) Signal(sig syscall.Signal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctrlC = r.ctrlC || sig == syscall.SIGINT
	switch {
	case r.ended:
		if command.Stops(sig) {
			r.patience.hurry()
		}
		return false
	case r.command != nil:
		r.command.HandOn(sig)
	case command.Stops(sig) && r.early == 0:
		r.early = sig
		r.stop()
	}
	return true
}

// stoppedEarly notes the signal by which the command was stopped before it ran; 0 for
// none.
func (r *Recording) stoppedEarly(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early == 0 {
		r.early = sig
	}
}

// StoppedBy is the signal by which the command was stopped before it ran; 0 when it
// was not.
func (r *Recording) StoppedBy() syscall.Signal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.early
}

// Interrupted tells whether there was a Ctrl-C, while the command ran or later.
func (r *Recording) Interrupted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctrlC
}

// begin makes the command get the signals from now on. It is false when it is not to
// run.
func (r *Recording) begin(held *command.Held) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early != 0 {
		return false
	}
	r.command = held
	return true
}

// end notes that the command gets no more signals.
func (r *Recording) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.command, r.ended = nil, true
}

// lineWait is how long a message waits for the end of a line that the command prints.
const lineWait = 250 * time.Millisecond

// keepWindows begins to follow the windows of a command that has just started.
func (r *Recording) keepWindows(held *command.Held) *windows.Keeper {
	return windows.Keep(windows.Kept{Rules: r.rules, Output: r.output, StartedMonoNanos: r.startedMonoNanos,
		Pause: r.pause, Resume: r.resume, Over: r.windowsOver,
		Changed: func(change WindowChange) {
			held.AwaitLineEnd(lineWait)
			if r.o.Window != nil {
				r.o.Window(change)
			}
		}})
}
