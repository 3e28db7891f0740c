package record

import (
	"context"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/record/windows"
)

// Finish completes the capture on disk and opens it. The caller closes it.
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

// describe returns the capture's description. It numbers JMH's forks among the JVMs.
func (r *Recording) describe(jvms []capture.JVM) capture.Description {
	trials, windowNotes := r.rules.Trials(&windows.Run{Command: r.o.Command, Span: r.wholeRun(), StartedWallNanos: r.clocks.start.WallNanos, JVMs: jvms, Output: r.output})
	d := r.description()
	d.Command, d.Code, d.Selection, d.JVMs, d.Trials, d.ExitCode = r.o.Command, r.code.kind(), r.o.selectionText(), jvms, trials, r.exitCode
	d.Notes.Add(r.sampling.Notes()...)
	d.Notes.Add(r.codeNote, r.o.selectionNote(), r.longNote)
	d.Notes.Add(r.problemNotes()...)
	d.Notes.Add(windowNotes...)
	d.Notes.Add(r.blackholeNote(), r.clocks.note())
	return d
}

// blackholeNote says that JMH measured something else than it would have measured without gasm; see optionsFile. It returns "" if JMH did
// not.
func (r *Recording) blackholeNote() string {
	mode := r.output.JMHBlackholes()
	if startsJava(r.o.Command) || !strings.HasPrefix(mode, "full + dont-inline") || !strings.Contains(mode, "auto-detected") {
		return ""
	}
	return "JMH uses full blackholes: it could not ask its JVM for compiler blackholes, because gasm keeps " +
		"the JVM's own messages off its output; put gasm before the java command itself (gasm profile -- java -jar …)"
}
