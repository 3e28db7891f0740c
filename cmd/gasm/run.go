package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/native"
	"github.com/gasm-profiler/gasm/nmethod"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A run is one `gasm profile`.
type run struct {
	streams
	own     *profileFlags
	flags   *reportFlags
	command []string

	dir       string // of the capture
	temporary bool   // dir is ours to remove
	watch     *jvm.Watcher
	recording recording
	mappings  *mappingWatch
	copies    codeCopies
	// logsCompilation tells that the JVMs have LogCompilation from gasm.
	logsCompilation bool
	clocks          []jvm.Clock
	started, ended  int64 // monotonic, ns: the command's
	exitCode        int   // the command's
	faults          []error
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
	signals.resume()
	r.cleanUp(err)
	r.recording.wait() // the report is there already
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
		if err := writable(r.dir); err != nil {
			os.RemoveAll(r.dir)
			return fmt.Errorf("%w (set TMPDIR, or name a folder with -o)", err)
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
	// Both come behind JAVA_TOOL_OPTIONS, in which ours are.
	for _, name := range []string{"JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		if option := printassembly.Overrides(os.Getenv(name)); option != "" {
			return fmt.Errorf("%s has %s, which takes the JVM's log away from gasm: unset %s", name, option, name)
		}
	}
	lenient := !jvm.KnowsFlags(r.command, printassembly.OldestKnown, printassembly.NewestKnown)
	r.copies = codeCopies{dir: r.dir, what: r.copied(), followers: map[int]*nmethod.Follower{}}
	sel, remove, err := r.selection(r.copies.what)
	if err != nil {
		return err
	}
	defer remove()
	r.logsCompilation = !sel.All()
	flags := printassembly.CaptureFlags(filepath.Join(r.dir, jvm.LogPattern), lenient, sel)
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
	if r.recording, err = r.startSampler(launch.PID()); err != nil {
		launch.Abandon()
		return err
	}
	r.clocks = append(r.clocks, jvm.ReadClock())
	if signals.running(launch) != 0 {
		launch.Abandon()
		r.stopUnused()
		return errNotRun
	}
	if err := launch.Release(); err != nil {
		r.stopUnused()
		return err
	}
	r.started = jvm.MonoNanos() // behind the exec: what came before is gasm's own
	r.mappings = watchMappings(r.dir, r.copies.follow)
	r.exitCode = launch.Wait()
	r.ended = jvm.MonoNanos()
	signals.over()
	if err := r.recording.Stop(); err != nil {
		r.fault(err)
	}
	r.clocks = append(r.clocks, jvm.ReadClock())
	return nil
}

// stopUnused ends a sampler that sampled nothing that could be lost.
func (r *run) stopUnused() {
	_ = r.recording.Stop()
	r.recording.wait()
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
	resolver := r.mappings.stop()
	paths := jvm.CollectLogs(r.dir)
	if len(paths) == 0 {
		return fmt.Errorf("%s started no JVM that HotSpot's PrintAssembly could be switched on in: %w "+
			"(is JAVA_TOOL_OPTIONS cleared on the way, has the JVM a -XX:LogFile of its own, or is it not HotSpot?)", r.command[0], errNoJVM)
	}
	copyNotes, copyFaults := r.copies.finish()
	for _, f := range copyFaults {
		r.fault(f)
	}
	logs, warnings, err := openLogs(paths)
	if err != nil {
		return err
	}
	defer closeLogs(logs)
	for _, w := range warnings {
		r.fault(w)
	}
	if r.logsCompilation {
		for _, l := range logs {
			jvm.RemoveCompilerLogs(l.PID)
		}
	}
	c := r.capture(logs)
	c.Notes = append(c.Notes, copyNotes...)
	noted := len(r.faults)
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
	in := joining{samples: samples, name: jvm.SamplesFile, capture: c, jvms: jvms, trials: trials, symbols: resolver.Resolve}
	j, err := in.join(r.flags.profileOptions())
	if err != nil {
		return err
	}
	if err := r.keepSymbols(c, resolver); err != nil {
		r.fault(err)
	}
	for _, fault := range r.faults[noted:] {
		if !diskFull(fault) || !slices.ContainsFunc(r.faults[:noted], diskFull) {
			c.Notes = append(c.Notes, notWhole+fault.Error())
		}
	}
	if r.flags.format == "text" && r.flags.file == "" {
		say(r.out, "") // parts the report from the command's output
	}
	return finish(r.streams, r.flags, c, j)
}

// keepSymbols keeps what the join found out about native code.
func (r *run) keepSymbols(c *jvm.Capture, resolver *native.Resolver) error {
	if err := saveSymbols(r.dir, resolver.Table()); err != nil {
		return err
	}
	if notes := resolver.Notes(); len(notes) > 0 {
		c.Notes = append(c.Notes, notes...)
		return jvm.WriteCapture(r.dir, c)
	}
	return nil
}

// notWhole starts the notes on what went wrong with the capture.
const notWhole = "the capture is not whole: "

// capture describes the run.
func (r *run) capture(logs []*printassembly.Log) *jvm.Capture {
	c := &jvm.Capture{Schema: 1, Gasm: version, Command: r.command,
		Host:    jvm.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: jvm.KernelRelease(), CPUs: runtime.NumCPU()},
		Sampler: r.recording.tool(), Events: splitEvents(r.recording.Event()), Frequency: r.recording.Frequency(),
		Lost: r.recording.Lost(), Notes: r.recording.Notes(), Clocks: r.clocks, ExitCode: r.exitCode}
	c.JVMs = describe(logs, &r.clocks[0])
	c.Selection = r.own.selectionText()
	c.Notes = append(c.Notes, r.own.selectionNotes(logs)...)
	for _, fault := range r.faults {
		c.Notes = append(c.Notes, notWhole+fault.Error())
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

// removeUnused takes the folder away again when there is nothing in it to keep.
func (r *run) removeUnused() {
	if r.temporary {
		os.RemoveAll(r.dir)
		return
	}
	if r.recording != nil {
		r.recording.discard()
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
