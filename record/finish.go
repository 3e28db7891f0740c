package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
)

// Finish completes the capture on disk and opens it. The caller closes it.
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
	return r.complete(func() capture.Description {
		d := r.describe(jvms)
		d.Notes.Add(copyNotes...)
		return d
	})
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

// describe gives the capture's description. It numbers JMH's forks among the JVMs.
func (r *Recording) describe(jvms []capture.JVM) capture.Description {
	trials, note := r.trials(jvms)
	d := r.description()
	d.Command, d.Code, d.Selection, d.JVMs, d.Trials, d.ExitCode = r.o.Command, r.o.codeText(), r.o.selectionText(), jvms, trials, r.exitCode
	d.Notes.Add(r.sampling.Notes()...)
	d.Notes.Add(r.codeNote, r.o.selectionNote(), r.longNote)
	d.Notes.Add(r.problemNotes()...)
	d.Notes.Add(note, r.blackholeNote(), r.clocks.note())
	return d
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
