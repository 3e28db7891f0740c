package windows

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
)

// Rules are the user's options for windows. If none is set, the windows come from JMH's lines. If there are no such
// lines, the window is the whole run.
type Rules struct {
	// Delay is the time from the command's start to the start of the measurement. Length is the length of the
	// measurement. If Length is 0, the measurement ends with the command.
	Delay, Length time.Duration
	// Start and End limit the measurement to the time between a line of the command's output that matches Start and the
	// next line that matches End. Each may be nil.
	Start, End *regexp.Regexp
	// From says on which streams gasm looks for these lines.
	From Source
	// File is the path of a file in which the program notes the times at which it should be measured. The program must
	// write the file before it ends. File is "" if there is no such file.
	File string
}

// A Source says on which streams gasm looks for lines that begin and end windows.
type Source string

// The sources; "" means FromBoth.
const (
	FromStdout Source = "stdout"
	FromStderr Source = "stderr"
	FromBoth   Source = "both"
)

// ByLines reports whether lines of the output begin or end the windows.
func (r *Rules) ByLines() bool { return r.Start != nil || r.End != nil }

// Reopen reports whether another window may open after one has closed.
func (r *Rules) Reopen() bool { return r.Start != nil && r.End != nil }

// Check returns an error for rules that contradict each other.
func (r *Rules) Check() error {
	byTime := r.Delay > 0 || r.Length > 0
	switch {
	case r.Delay < 0 || r.Length < 0:
		return errors.New("--delay and --length can't be negative")
	case byTime && r.ByLines():
		return errors.New("--delay/--length and --window-start/--window-end say two different windows; use one pair")
	case r.File != "" && (byTime || r.ByLines()):
		return errors.New("--window-file can't be combined with --delay, --length, --window-start or --window-end")
	case !slices.Contains([]Source{"", FromStdout, FromStderr, FromBoth}, r.From):
		return fmt.Errorf("--window-from is %q; it can be stdout, stderr or both", r.From)
	case r.From != "" && !r.ByLines():
		return errors.New("--window-from says where lines are looked for: it takes --window-start or --window-end")
	}
	return nil
}

// A Run describes the run of a command, after the command has ended.
type Run struct {
	Command          []string
	Span             capture.Span  // the whole run
	StartedWallNanos int64         // start of the run by the wall clock, in ns since 1970
	JVMs             []capture.JVM // in the order of their start; Trials numbers JMH's forks among them
	Output           *Output       // what the command printed
}

// Trials returns when and in which JVMs the run is measured, according to the first of the rules that applies. The
// notes say why this may differ from what the user expected, for example that no line matched.
func (r *Rules) Trials(run *Run) (trials []capture.Trial, notes []string) {
	var spans []capture.Span
	var note string
	switch {
	case r.Delay > 0 || r.Length > 0:
		var span capture.Span
		span, note = ByTime(run.Span, r.Delay, r.Length, "the command")
		spans = []capture.Span{span}
	case r.ByLines():
		spans, note = r.spansByLines(run)
	case r.File != "":
		if trials, note = trialsOfFile(r.File, run); len(trials) > 0 {
			return trials, []string{note}
		}
		spans = []capture.Span{run.Span}
	default:
		if trials, note = trialsOfJMH(run); len(trials) > 0 {
			return trials, []string{note, takeResults(run.Command, run.StartedWallNanos, trials)}
		}
		spans = []capture.Span{run.Span}
	}
	return []capture.Trial{Whole(run.JVMs, spans)}, []string{note}
}

// ByTime returns the window of a delay and a length within a run. If the length is 0, the window lasts until the end of
// the run. If the run ended before the delay was over, a note says so. recorded is a name for the run in the note, for
// example "the command".
func ByTime(run capture.Span, delay, length time.Duration, recorded string) (span capture.Span, note string) {
	span = run
	span.FromMonoNanos += int64(delay)
	if length > 0 {
		span.ToMonoNanos = min(span.ToMonoNanos, span.FromMonoNanos+int64(length))
	}
	if span.FromMonoNanos >= run.ToMonoNanos {
		span = capture.Span{FromMonoNanos: run.ToMonoNanos, ToMonoNanos: run.ToMonoNanos}
		note = recorded + " ended before --delay was over: the window is empty"
	}
	return span, note
}

// spansByLines returns the windows between the lines that the user named.
func (r *Rules) spansByLines(run *Run) (spans []capture.Span, note string) {
	spans = run.Output.Spans()
	for i := range spans {
		spans[i].FromMonoNanos = max(spans[i].FromMonoNanos, run.Span.FromMonoNanos)
		if spans[i].ToMonoNanos == 0 {
			spans[i].ToMonoNanos = run.Span.ToMonoNanos
			if r.End != nil {
				note = r.unclosedNote(len(spans))
			}
		}
	}
	switch {
	case len(spans) > 0:
		return spans, note
	case r.Start == nil:
		note = r.unclosedNote(1)
	default:
		note = "no line of " + r.streamName() + " matched --window-start: the whole run is measured"
	}
	return []capture.Span{run.Span}, note
}

// unclosedNote returns a note that says that the last window was not closed. windows is the number of windows.
func (r *Rules) unclosedNote(windows int) string {
	if windows == 1 {
		return "no line of " + r.streamName() + " matched --window-end: the one window goes on to the end of the run"
	}
	return fmt.Sprintf("of %d windows, the last one was not closed: no line of %s matched --window-end after it had opened, so it goes on to the end of the run",
		windows, r.streamName())
}

// streamName returns a name for the streams whose lines open and close windows.
func (r *Rules) streamName() string {
	switch r.From {
	case FromStdout, FromStderr:
		return string(r.From)
	}
	return "output"
}

// trialsOfJMH returns the trials that JMH announced. It returns none if the command was not JMH or measured nothing.
func trialsOfJMH(run *Run) (trials []capture.Trial, note string) {
	trials = run.Output.JMHTrials(run.JVMs, run.Span.ToMonoNanos)
	if lost := run.Output.LostForks(); len(lost) > 0 {
		note = strings.Join(lost, ", ") + ": not in the profile: HotSpot's log of this fork is missing"
		if len(lost) > 1 {
			note = strings.Join(lost, ", ") + ": not in the profile: HotSpot's logs of these forks are missing"
		}
	}
	if len(trials) > 0 {
		return trials, note
	}
	for i := range run.JVMs {
		if forkOfJMH(&run.JVMs[i]) {
			note =
				"JMH ran here, but no measured iterations were seen on its stdout or in the file of its -o (was it stopped, or could gasm not read that file?): " +
					"the whole run is measured, including JMH's host and warm-up"
		}
	}
	return nil, note
}

// Whole returns a trial in which each of the JVMs is measured during each of the spans.
func Whole(jvms []capture.JVM, spans []capture.Span) capture.Trial {
	var t capture.Trial
	for _, j := range jvms {
		for _, s := range spans {
			t.Windows = append(t.Windows, capture.Window{PID: j.PID, Span: s})
		}
	}
	return t
}

// forkOfJMH reports whether a JVM is a fork of JMH, which runs benchmarks. The command of such a JVM is
// "org.openjdk.jmh.runner.ForkedMain 127.0.0.1 36045", with the address of JMH's own JVM.
func forkOfJMH(j *capture.JVM) bool {
	return strings.HasPrefix(j.Main, "org.openjdk.jmh.runner.ForkedMain")
}
