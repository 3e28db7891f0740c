package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
)

// Finish completes the capture on disk and opens it. The caller closes it.
//
// What can't be written because the disk is full is a problem, and not the end: the
// capture then has it in memory.
func (r *Recording) Finish() (*capture.Capture, error) {
	if err := r.o.Folder.gather(); err != nil {
		r.problem(err)
	}
	copyNotes, faults := r.copies.finish()
	for _, f := range faults {
		r.problem(f)
	}
	jvms, err := r.jvms()
	if err != nil {
		return nil, err
	}
	saved := true
	samples := func() (io.ReadCloser, error) { return os.Open(r.path(capture.SamplesFile)) }
	if err := r.saveSamples(); err != nil {
		r.problem(err)
		saved, samples = false, r.sampling.open
		if err := r.nameUnsaved(); err != nil {
			return nil, fmt.Errorf("reading the samples: %w", err)
		}
	}
	table := r.resolver.Table()
	if err := saveTable(r.path(capture.SymbolsFile), table); err != nil {
		r.problem(err)
		saved = false
	}
	d := r.describe(jvms)
	d.Notes.Add(copyNotes...)
	d.Notes.Add(r.resolver.Notes()...)
	if err := d.Write(r.o.Folder.Path); err != nil {
		r.problem(err)
		saved = false
		d.Notes.Add(r.problemNotes()...)
	}
	if saved {
		return capture.Open(r.o.Folder.Path)
	}
	return capture.OpenUnsaved(r.o.Folder.Path, d, table, samples)
}

// jvms describes the JVMs that left a log, in the order in which they started.
func (r *Recording) jvms() ([]capture.JVM, error) {
	paths, err := capture.Logs(r.o.Folder.Path)
	if err != nil {
		return nil, fmt.Errorf("looking for the JVMs' logs: %w", err)
	}
	switch {
	case len(paths) > 0:
	case r.Interrupted() || r.exitCode != 0:
		return nil, fmt.Errorf("%s ended with exit code %d before a JVM had told of any code: %w", r.o.Command[0], r.exitCode, ErrNoJVM)
	default:
		return nil, fmt.Errorf("%s started no JVM that HotSpot's PrintAssembly could be switched on in: %w "+
			"(is JAVA_TOOL_OPTIONS cleared on the way, has the JVM a -XX:LogFile of its own, does it run as another user or in another "+
			"root directory, where it can't write to %s, or is it not HotSpot?)", r.o.Command[0], ErrNoJVM, r.logs.describe())
	}
	var jvms []capture.JVM
	var unread []error
	for _, path := range paths {
		j, err := readHead(path)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if start := j.Log.StartWallMillis; start > 0 {
			j.StartMonoNanos = r.clocks.jvmStart(j.PID, start*1e6)
		}
		j.Log = nil // the capture opens all of it
		jvms = append(jvms, j)
		if r.logsCompilation {
			removeCompilerLogs(j.PID)
		}
	}
	if len(jvms) == 0 {
		return nil, errors.Join(unread...)
	}
	for _, err := range unread {
		r.problem(err)
	}
	slices.SortStableFunc(jvms, func(a, b capture.JVM) int { return int(a.StartMonoNanos/1e6 - b.StartMonoNanos/1e6) })
	return jvms, nil
}

// nameUnsaved looks up the functions of samples whose text could not be written.
func (r *Recording) nameUnsaved() error {
	text, err := r.sampling.open()
	if err != nil {
		return err
	}
	defer text.Close()
	r.nameFunctions(text)
	return nil
}

// saveTable writes the native functions that samples are in.
func saveTable(path string, t *native.Table) error {
	if t.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = t.Write(f)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return fmt.Errorf("writing the native symbols: %w", err)
	}
	return nil
}

// describe gives the capture's description. It numbers JMH's forks among the JVMs.
func (r *Recording) describe(jvms []capture.JVM) capture.Description {
	trials, note := r.trials(jvms)
	d := capture.Description{Schema: 1, Gasm: r.o.Gasm, Command: r.o.Command, Host: thisHost(),
		Sampler: string(r.sampling.tool()), Events: sampler.Specs(r.sampling.Events()), Frequency: r.sampling.Frequency(),
		Lost: r.sampling.Lost(), Selection: r.o.selectionText(), Clocks: []capture.Clock{r.clocks.start, r.clocks.end}, JVMs: jvms, Trials: trials, ExitCode: r.exitCode}
	d.Notes.Add(r.sampling.Notes()...)
	d.Notes.Add(r.codeNote, r.o.selectionNote(), r.longNote)
	d.Notes.Add(r.problemNotes()...)
	d.Notes.Add(note, r.blackholeNote(), r.clocks.note())
	return d
}

// problemNotes say that the capture is not complete; of a full disk once.
func (r *Recording) problemNotes() []string {
	var notes []string
	full := false
	for _, err := range r.Problems() {
		if isDiskFull(err) && full {
			continue
		}
		full = full || isDiskFull(err)
		notes = append(notes, "the capture is not whole: "+err.Error())
	}
	return notes
}

// blackholeNote says that JMH measured something else than it would have without
// gasm; see optionsFile.
func (r *Recording) blackholeNote() string {
	mode := r.output.JMHBlackholes()
	if startsJava(r.o.Command) || !strings.HasPrefix(mode, "full + dont-inline") || !strings.Contains(mode, "auto-detected") {
		return ""
	}
	return "JMH uses full blackholes: it could not ask its JVM for compiler blackholes, since capture keeps " +
		"the JVM's own messages off its output; put gasm in front of the java command itself (gasm profile -- java -jar …)"
}

// thisHost describes the machine.
func thisHost() capture.Host {
	h := capture.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return h
}
