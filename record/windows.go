package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
)

// trials says when and in which JVMs the command is measured. The first rule that
// applies counts: Delay and Length, the lines that the user named, the file that the program
// writes its windows to, JMH's own lines, the whole run. It numbers JMH's forks among jvms. The note says what of the rule did
// not apply as the user may expect.
func (r *Recording) trials(jvms []capture.JVM) (trials []capture.Trial, note string) {
	var spans []capture.Span
	switch {
	case r.o.Delay > 0 || r.o.Length > 0:
		var span capture.Span
		span, note = r.spanByTime(r.o.Delay, r.o.Length, "the command")
		spans = []capture.Span{span}
	case r.o.WindowStart != nil || r.o.WindowEnd != nil:
		spans, note = r.spansByLines()
	case r.o.WindowFile != "":
		trials, note = r.trialsOfFile(jvms)
		if len(trials) > 0 {
			return trials, note
		}
		spans = []capture.Span{r.wholeRun()}
	default:
		trials, note = r.trialsOfJMH(jvms)
		if len(trials) > 0 {
			r.resultNote = takeResults(r.o.Command, r.clocks.start.WallNanos, trials)
			return trials, note
		}
		spans = []capture.Span{r.wholeRun()}
	}
	return []capture.Trial{wholeTrial(jvms, spans)}, note
}

// spanByTime is the window of a delay and a length, of which 0 is none. The note says that
// what was recorded ended too soon.
func (s *session) spanByTime(delay, length time.Duration, recorded string) (span capture.Span, note string) {
	span = s.wholeRun()
	span.FromMonoNanos += int64(delay)
	if length > 0 {
		span.ToMonoNanos = min(span.ToMonoNanos, span.FromMonoNanos+int64(length))
	}
	if span.FromMonoNanos >= s.endedMonoNanos {
		span = capture.Span{FromMonoNanos: s.endedMonoNanos, ToMonoNanos: s.endedMonoNanos}
		note = recorded + " ended before --delay was over: the window is empty"
	}
	return span, note
}

// spansByLines are the windows between the lines that the user named.
func (r *Recording) spansByLines() (spans []capture.Span, note string) {
	spans = r.output.Spans()
	for i := range spans {
		spans[i].FromMonoNanos = max(spans[i].FromMonoNanos, r.startedMonoNanos)
		if spans[i].ToMonoNanos == 0 {
			spans[i].ToMonoNanos = r.endedMonoNanos
			if r.o.WindowEnd != nil {
				note = r.o.unclosedNote(len(spans))
			}
		}
	}
	switch {
	case len(spans) > 0:
		return spans, note
	case r.o.WindowStart == nil:
		note = r.o.unclosedNote(1)
	default:
		note = "no line of " + r.o.windowLines() + " matched --window-start: the whole run is measured"
	}
	return []capture.Span{r.wholeRun()}, note
}

// unclosedNote says that the last of some windows was not closed.
func (o *Options) unclosedNote(windows int) string {
	if windows == 1 {
		return "no line of " + o.windowLines() + " matched --window-end: the one window goes on to the end of the run"
	}
	return fmt.Sprintf("of %d windows, the last one was not closed: no line of %s matched --window-end after it had opened, so it goes on to the end of the run",
		windows, o.windowLines())
}

// windowLines names the lines that windows are opened and closed by.
func (o *Options) windowLines() string {
	switch o.WindowFrom {
	case FromStdout, FromStderr:
		return string(o.WindowFrom)
	}
	return "output"
}

// trialsOfJMH are the trials that JMH announced; none when the command was not JMH or
// measured nothing.
func (r *Recording) trialsOfJMH(jvms []capture.JVM) (trials []capture.Trial, note string) {
	trials = r.output.JMHTrials(jvms, r.endedMonoNanos)
	if lost := r.output.LostForks(); len(lost) > 0 {
		note = strings.Join(lost, ", ") + ": not in the profile, for HotSpot's log of it is missing"
	}
	if len(trials) > 0 {
		return trials, note
	}
	for i := range jvms {
		if forkOfJMH(&jvms[i]) {
			note = "JMH ran here, but no measured iterations were seen on its stdout or in the file of its -o (was it stopped, or could gasm not read that file?): " +
				"the whole run is measured, JMH's host and warm-up too"
		}
	}
	return nil, note
}

// wholeTrial measures all JVMs in the same spans.
func wholeTrial(jvms []capture.JVM, spans []capture.Span) capture.Trial {
	var t capture.Trial
	for _, j := range jvms {
		for _, s := range spans {
			t.Windows = append(t.Windows, capture.Window{PID: j.PID, Span: s})
		}
	}
	return t
}

// forkOfJMH tells whether a JVM runs benchmarks for a JMH host. Its command is
// "org.openjdk.jmh.runner.ForkedMain 127.0.0.1 36045", the host's address.
func forkOfJMH(j *capture.JVM) bool {
	return strings.HasPrefix(j.Main, "org.openjdk.jmh.runner.ForkedMain")
}
