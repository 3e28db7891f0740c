package xctrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/tool"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// Folder is the name of the folder in which xctrace saves its recording.
const Folder = "xctrace.trace"

// Options say how xctrace samples.
type Options struct {
	Events []sampler.Event // at most one; if there is none, Time Profiler samples
	Dir    string          // the directory in which Folder is created
	// Stop calls Slow with a sentence for the user if xctrace takes long to save its recording. Slow may be nil.
	Slow func(message string)
}

// A Recording is xctrace's recording of all processes. It is running or has ended.
type Recording struct {
	event   sampler.Event
	table   string
	trace   string
	slow    func(message string) // may be nil
	process *external.Process
	stdout  external.Buffer

	stopOnce sync.Once
	stopErr  error

	notesMu sync.Mutex
	notes   []fix.Note
}

// rate is how often Time Profiler samples each CPU, in Hz. It can't be changed.
const rate = 1000

// Tests shorten these times.
var (
	// startTimeout is the maximum time until xctrace samples. Usually it takes a few seconds; the first time after the
	// installation of Xcode it takes longer.
	startTimeout = 90 * time.Second
	// endTimeout is the maximum time for saving the recording.
	endTimeout = 5 * time.Minute
)

// An instrument is a component of Instruments that takes samples, for example Time Profiler.
type instrument struct {
	event sampler.Event
	name  string // name of the instrument as xctrace spells it
	table string // the table with the samples in a recording
}

var instruments = []instrument{
	{sampler.ParseEvent(sampler.TimeProfile), "Time Profiler", "time-profile"},
	{sampler.ParseEvent("cycles"), "CPU Profiler", "cpu-profile"},
}

// DefaultEvent returns the event that xctrace samples if the user does not name one.
func DefaultEvent() string { return instruments[0].event.Spec }

// instrumentOf returns the instrument for the events that the user has named.
func instrumentOf(events []sampler.Event) (instrument, error) {
	if len(events) == 0 {
		return instruments[0], nil
	}
	for _, i := range instruments {
		if len(events) == 1 && events[0].Spec == i.event.Spec {
			return i, nil
		}
	}
	return instrument{}, errors.New("--event: xctrace samples by time, which needs no --event, or by cycles (its CPU Profiler): --event cycles")
}

// Check returns an error if xctrace can't sample these events at this frequency. It does not run xctrace.
func Check(events []sampler.Event, frequency int) error {
	if frequency != 0 && frequency != rate {
		return fmt.Errorf("--frequency is %d; Instruments samples %d times a second, or as often as its CPU Profiler does: leave it out", frequency, rate)
	}
	_, err := instrumentOf(events)
	return err
}

// recordArgs returns the arguments with which xcrun records. All processes are sampled, so that JVMs that the command
// starts are not missed. The profile then keeps only the samples of the command.
func recordArgs(i instrument, trace, notification string) []string {
	return []string{"xctrace", "record", "--instrument", i.name, "--all-processes", "--no-prompt",
		"--notify-tracing-started", notification, "--output", trace}
}

// exportArgs returns the arguments with which xcrun writes a table of a recording to stdout.
func exportArgs(trace, table string) []string {
	return []string{"xctrace", "export", "--input", trace, "--xpath",
		`/trace-toc/run[@number="1"]/data/table[@schema="` + table + `"]`}
}

// tocArgs returns the arguments with which xcrun writes a recording's table of contents.
func tocArgs(trace string) []string {
	return []string{"xctrace", "export", "--input", trace, "--toc"}
}

// Find returns the path of xctrace. xctrace is a part of Xcode, but not of Xcode's command line tools.
func Find(ctx context.Context) (string, error) {
	xcrun, err := exec.LookPath("xcrun")
	if err != nil {
		return "", &failure.MissingToolError{Tool: "xctrace", Cause: "there is no xcrun on PATH",
			Hint: "xctrace is a part of Xcode, which is for macOS alone"}
	}
	out, err := tool.Command(ctx, xcrun, "--find", "xctrace").Output()
	if err != nil {
		return "", &failure.MissingToolError{Tool: "xctrace",
			Cause: "xcrun does not find it, because it is not in Xcode's command line tools",
			Hint:  "install Xcode, then: sudo xcode-select -s /Applications/Xcode.app"}
	}
	return string(bytes.TrimSpace(out)), nil
}

// Start starts xctrace, and returns as soon as xctrace samples. If the cause of an error is known, the error is a
// *failure.MissingToolError or a *failure.RefusedError. If Start returns an error, xctrace is no longer running. If ctx
// ends, xctrace is killed.
func Start(ctx context.Context, opts Options) (*Recording, error) {
	i, err := instrumentOf(opts.Events)
	if err != nil {
		return nil, err
	}
	if _, err := Find(ctx); err != nil {
		return nil, err
	}
	x := &Recording{event: i.event, table: i.table, trace: filepath.Join(opts.Dir, Folder), slow: opts.Slow}
	if err := os.RemoveAll(x.trace); err != nil {
		return nil, err
	}
	notification := "gasm.xctrace." + strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(time.Now().UnixNano(), 36)
	notified, forget := awaitNotification(ctx, notification)
	defer forget()
	x.process = external.New(ctx, "xcrun", recordArgs(i, x.trace, notification))
	x.process.Cmd.Stdout = &x.stdout
	if err := x.process.Start(); err != nil {
		return nil, fmt.Errorf("xctrace: %w", err)
	}
	if err := x.awaitStart(ctx, notified); err != nil {
		x.process.Kill()
		<-x.process.Done
		x.Discard()
		return nil, err
	}
	return x, nil
}

// awaitNotification returns a channel that is closed when a program posts the macOS notification of this name. The
// channel is nil if there is no notifyutil. forget ends the waiting.
func awaitNotification(ctx context.Context, name string) (posted <-chan struct{}, forget func()) {
	path, err := exec.LookPath("notifyutil")
	if err != nil {
		return nil, func() {}
	}
	p := external.New(ctx, path, []string{"-1", name})
	if err := p.Start(); err != nil {
		return nil, func() {}
	}
	heard := make(chan struct{})
	go func() {
		<-p.Done
		if p.Cmd.ProcessState.Success() {
			close(heard)
		}
	}()
	return heard, p.Kill
}

// awaitStart waits until xctrace reports that it records, by the notification or by its line "Ctrl-C to stop the
// recording".
func (x *Recording) awaitStart(ctx context.Context, notified <-chan struct{}) error {
	limit := time.NewTimer(startTimeout)
	defer limit.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-notified:
			return nil
		case <-look.C:
			if bytes.Contains([]byte(x.stdout.String()), []byte("Ctrl-C to stop")) {
				return nil
			}
		case <-x.process.Done:
			if ctx.Err() != nil {
				return fmt.Errorf("xctrace: %w", context.Cause(ctx))
			}
			return x.refusal()
		case <-limit.C:
			return fmt.Errorf("xctrace did not start to record within %s; see whether 'xcrun xctrace record --instrument \"%s\" --all-processes --time-limit 2s' works",
				startTimeout, instruments[0].name)
		}
	}
}

// refusal returns the error for an xctrace that ended before it began to record.
func (x *Recording) refusal() error {
	line, ok := failure.LineWith(x.process.Stderr.String()+"\n"+x.stdout.String(), "rror", "annot", "ailed", "ermission",
		"nvalid", "nable", "icense")
	if !ok {
		line = "it does not say why: " + x.process.Cmd.ProcessState.String()
	}
	return &failure.RefusedError{Tool: "xctrace", Reason: failure.ReasonKernel, Cause: line,
		Hint: "try 'xcrun xctrace list instruments'", Stderr: line}
}

// Events returns the event that xctrace samples.
func (x *Recording) Events() []sampler.Event { return []sampler.Event{x.event} }

// Frequency returns how often xctrace samples each CPU, in Hz. It returns 0 for CPU Profiler, which chooses its own
// rate.
func (x *Recording) Frequency() int {
	if x.event.ByClock() {
		return rate
	}
	return 0
}

// Notes returns notes about what the samples lack.
func (x *Recording) Notes() []fix.Note {
	x.notesMu.Lock()
	defer x.notesMu.Unlock()
	return append([]fix.Note{{Text: "xctrace samples user space only: what the kernel does for the program is not in the profile"}}, x.notes...)
}

func (x *Recording) note(format string, args ...any) {
	x.notesMu.Lock()
	defer x.notesMu.Unlock()
	x.notes = append(x.notes, fix.Note{Text: fmt.Sprintf(format, args...)})
}

// Pause does nothing, and xctrace continues to sample. The profile leaves out the samples from the pause, because it
// uses only samples from the measured times.
func (x *Recording) Pause() error { return nil }

// Resume does nothing, like Pause.
func (x *Recording) Resume() error { return nil }

// Stop ends the recording with SIGINT, and waits until xctrace has saved it. Further calls return the same error.
func (x *Recording) Stop() error {
	x.stopOnce.Do(func() { x.stopErr = x.stop() })
	return x.stopErr
}

func (x *Recording) stop() error {
	asked := !x.process.Ended() && syscall.Kill(-x.process.Cmd.Process.Pid, syscall.SIGINT) == nil
	saved := external.AwaitDone(x.process.Done, endTimeout, external.SlowEnd, func() {
		external.TellSlow(x.slow, "xctrace", external.SlowEnd,
			fmt.Sprintf("it saves its recording, for which it has %s", endTimeout))
	})
	stopped := &failure.StoppedError{Tool: "xctrace", Stderr: x.process.Stderr.String()}
	if !saved {
		x.process.Abort()
		stopped.Cause = fmt.Sprintf("it was killed because it did not save its recording within %s", endTimeout)
		return stopped
	}
	if _, err := os.Stat(x.trace); err != nil {
		stopped.Cause, stopped.Err = "it left no recording: "+x.process.Cmd.ProcessState.String(), err
		return stopped
	}
	if !asked {
		stopped.Cause = "it ended before the command: " + x.process.Cmd.ProcessState.String()
		return stopped
	}
	return nil
}

// Discard removes the recording.
func (x *Recording) Discard() { os.RemoveAll(x.trace) }
