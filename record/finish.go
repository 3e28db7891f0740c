package record

import (
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/record/windows"
)

// Finish completes the capture on disk and opens it. The caller closes it.
func (r *Recording) Finish() (*capture.Capture, error) {
	jvms, notes, err := r.code.finish()
	if err != nil {
		r.live.discard()
		return nil, err
	}
	notes = append(notes, r.takeEvents(jvms)...)
	notes = append(notes, r.takeProbes(jvms)...)
	notes = append(notes, r.live.take(jvms)...)
	return r.complete(func() capture.Description {
		d := r.describe(jvms)
		d.Notes.Add(notes...)
		return d
	})
}

// describe gives the capture's description. It numbers JMH's forks among the JVMs.
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
