package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// A run is one `gasm profile`.
type run struct {
	streams
	own     *profileFlags
	flags   *reportFlags
	command []string

	dir            string // of the capture
	temporary      bool   // dir is ours to remove
	watch          *jvm.Watcher
	perf           *sampler.Perf
	clocks         []jvm.Clock
	started, ended int64 // monotonic, ns: the command's
	exitCode       int   // the command's
	faults         []error
}

func runProfile(s streams, own *profileFlags, flags *reportFlags, command []string) error {
	r := &run{streams: s, own: own, flags: flags, command: command, watch: jvm.NewWatcher(own.start, own.end)}
	if err := r.makeFolder(); err != nil {
		return err
	}
	signals := r.catchSignals()
	defer signals.stop()
	if err := r.record(signals); err != nil {
		r.removeUnused()
		if sig := signals.stoppedEarly(); sig != 0 {
			return &exitError{code: 128 + int(sig)}
		}
		return err
	}
	err := r.reportOn()
	r.cleanUp(err)
	return r.exit(err, signals.over())
}

// makeFolder makes the capture's folder, for its owner alone.
func (r *run) makeFolder() (err error) {
	if r.own.output == "" {
		r.temporary = true
		r.dir, err = os.MkdirTemp("", "gasm-")
		if err != nil {
			return fmt.Errorf("making a folder for the capture: %w (set TMPDIR, or name one with -o)", err)
		}
		return nil
	}
	r.dir, err = filepath.Abs(r.own.output)
	if err != nil {
		return fmt.Errorf("making the capture folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(r.dir), 0o755); err != nil {
		return fmt.Errorf("making the capture folder: %w", err)
	}
	err = os.Mkdir(r.dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		entries, readErr := os.ReadDir(r.dir)
		switch {
		case readErr != nil:
			return fmt.Errorf("-o %s: %w", r.own.output, readErr)
		case len(entries) > 0:
			return fmt.Errorf("-o %s: the folder is not empty; name a new one, so that no capture is overwritten", r.own.output)
		}
		err = os.Chmod(r.dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("making the capture folder: %w", err)
	}
	return writable(r.dir)
}

// writable finds out before the command runs that nothing can be written.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, "try-")
	if err != nil {
		return fmt.Errorf("the capture folder can't be written: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(make([]byte, 4096)); err != nil {
		return fmt.Errorf("the capture folder can't be written: %w", err)
	}
	return nil
}

// errNotRun is for a command that was stopped before it ran.
var errNotRun = errors.New("stopped before the command ran")

// errNoJVM wraps the error of a command that started no JVM: nothing that it
// left is worth keeping.
var errNoJVM = errors.New("no code, no report")

// record runs the command with the sampler beside it. An error means that the
// command did not run.
func (r *run) record(signals *signalWatch) error {
	lenient := !jvm.KnowsFlags(r.command, printassembly.OldestKnown, printassembly.NewestKnown)
	flags := printassembly.CaptureFlags(filepath.Join(r.dir, jvm.LogPattern), lenient)
	if jvm.StartsJava(r.command) {
		options, err := jvm.NewOptionsFile(r.dir, printassembly.QuietFlags())
		if err != nil {
			return fmt.Errorf("the capture folder can't be written: %w", err)
		}
		defer options.Remove()
		r.watch.OnJMHProbe(options.Quiet)
		flags = append(flags, options.Flag())
	}
	launch, err := jvm.Start(jvm.LaunchOptions{Command: r.command, CaptureFlags: flags,
		Stdin: r.in, Stdout: r.out, Stderr: r.err, Watch: r.watch})
	if err != nil {
		return err
	}
	r.perf, err = sampler.StartPerf(context.Background(), sampler.Options{
		Events: r.own.events, Frequency: r.own.frequency, PID: launch.PID(), Dir: r.dir})
	if err != nil {
		launch.Abandon()
		return err
	}
	r.clocks = append(r.clocks, jvm.ReadClock())
	if signals.running(launch) != 0 {
		launch.Abandon()
		_ = r.perf.Stop() // nothing was sampled that could be lost
		return errNotRun
	}
	if err := launch.Release(); err != nil {
		_ = r.perf.Stop()
		return err
	}
	r.started = jvm.MonoNanos() // behind the exec: what came before is gasm's own
	r.exitCode = launch.Wait()
	r.ended = jvm.MonoNanos()
	signals.over()
	if err := r.perf.Stop(); err != nil {
		r.fault(err)
	}
	r.clocks = append(r.clocks, jvm.ReadClock())
	return nil
}

// fault notes what went wrong with the capture while the rest goes on. A full
// disk is said once, whatever else could not be written to it.
func (r *run) fault(err error) {
	known := diskFull(err) && slices.ContainsFunc(r.faults, diskFull)
	r.faults = append(r.faults, err)
	if !known {
		say(r.err, "gasm: %v", err)
	}
}

// diskFull also knows the words of perf, whose errors are text.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "No space left on device")
}

// reportOn turns what was captured into the report.
func (r *run) reportOn() error {
	paths := jvm.CollectLogs(r.dir)
	if len(paths) == 0 {
		return fmt.Errorf("%s started no JVM that HotSpot's PrintAssembly could be switched on in: %w "+
			"(is JAVA_TOOL_OPTIONS cleared on the way, has the JVM a -XX:LogFile of its own, or is it not HotSpot?)", r.command[0], errNoJVM)
	}
	logs, warnings, err := openLogs(paths)
	if err != nil {
		return err
	}
	defer closeLogs(logs)
	for _, w := range warnings {
		r.fault(w)
	}
	c := r.capture(logs)
	if err := jvm.WriteCapture(r.dir, c); err != nil {
		r.fault(err)
	}
	jvms, trials, err := narrow(r.flags.pid, profileJVMs(logs, c.JVMs), profileTrials(c.Trials))
	if err != nil {
		return err
	}
	samples, err := r.samples()
	if err != nil {
		return err
	}
	defer samples.Close()
	j, err := join(samples, jvm.SamplesFile, c.Events, jvms, trials, r.flags.profileOptions())
	if err != nil {
		return err
	}
	if r.flags.format == "text" && r.flags.file == "" {
		say(r.out, "") // parts the report from the command's output
	}
	return finish(r.streams, r.flags, c, j)
}

// capture describes the run.
func (r *run) capture(logs []*printassembly.Log) *jvm.Capture {
	c := &jvm.Capture{Schema: 1, Gasm: version, Command: r.command,
		Host:    jvm.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: jvm.KernelRelease(), CPUs: runtime.NumCPU()},
		Sampler: "perf", Events: strings.Split(r.perf.Event(), ","), Frequency: r.own.frequency,
		Notes: r.perf.Notes(), Clocks: r.clocks, ExitCode: r.exitCode}
	c.JVMs = describe(logs, &r.clocks[0])
	for _, fault := range r.faults {
		c.Notes = append(c.Notes, "the capture is not whole: "+fault.Error())
	}
	var note string
	if c.Trials, note = r.trials(c.JVMs); note != "" {
		c.Notes = append(c.Notes, note)
	}
	if bh := r.watch.JMHBlackholes(); strings.HasPrefix(bh, "full + dont-inline") && strings.Contains(bh, "auto-detected") && !jvm.StartsJava(r.command) {
		c.Notes = append(c.Notes, "JMH uses full blackholes: it could not ask its JVM for compiler blackholes, since capture keeps "+
			"the JVM's own messages off its output; put gasm in front of the java command itself (gasm profile -- java -jar …)")
	}
	return c
}

// samples writes the sampler's text into the capture and opens it. Where the
// disk is full it is read straight from perf, whose data stays.
func (r *run) samples() (io.ReadCloser, error) {
	path := filepath.Join(r.dir, jvm.SamplesFile)
	bar := startProgress(r.err, "perf script", -1)
	defer bar.done()
	err := r.writeSamples(path, bar)
	if err == nil {
		os.Remove(r.perf.DataFile()) // all of it that gasm uses is in the text now
		return os.Open(path)
	}
	r.fault(err)
	pipeOut, pipeIn := io.Pipe()
	go func() { pipeIn.CloseWithError(r.perf.WriteText(context.Background(), pipeIn)) }()
	return pipeOut, nil
}

func (r *run) writeSamples(path string, bar *progress) error {
	// Under its own name it is whole.
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the samples: %w", err)
	}
	err = r.perf.WriteText(context.Background(), bar.writer(f))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part) // perf's own data is whole
		return fmt.Errorf("writing the samples: %w", err)
	}
	return nil
}

// removeUnused takes the folder away again when there is nothing in it to keep.
func (r *run) removeUnused() {
	if r.temporary {
		os.RemoveAll(r.dir)
		return
	}
	if r.perf != nil {
		os.Remove(r.perf.DataFile())
	}
	os.Remove(r.dir) // only when it is empty
}

// cleanUp removes a temporary capture after a good run, and says where it is
// after any other.
func (r *run) cleanUp(err error) {
	switch {
	case errors.Is(err, errNoJVM):
		r.removeUnused()
	case r.temporary && err == nil && len(r.faults) == 0:
		if err := os.RemoveAll(r.dir); err != nil {
			say(r.err, "gasm: removing the temporary capture: %v", err)
		}
	case err != nil || len(r.faults) > 0:
		say(r.err, "gasm: the capture is kept in %s", r.dir)
	}
}

// exit gives gasm's exit code: 130 after Ctrl-C, the command's own when it
// failed, 1 when gasm did.
func (r *run) exit(err error, interrupted bool) error {
	switch {
	case interrupted:
		return &exitError{130, err}
	case r.exitCode != 0:
		return &exitError{r.exitCode, err}
	case err != nil || len(r.faults) > 0:
		return &exitError{1, err}
	}
	return nil
}
