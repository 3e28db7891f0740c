package windows

import (
	"bytes"
	"regexp"
	"slices"
	"sync"

	"github.com/gasm-profiler/gasm/capture"
)

// An Output looks at the command's output, which passes through gasm. It notes the times of lines that begin or end a
// measurement: lines that match the user's expressions, and JMH's progress lines.
type Output struct {
	start, end *regexp.Regexp // nil if the rules have no such expression

	// Lines of the two streams are kept apart.
	stdout, stderr stream
	// changed receives a value when a window has opened or closed.
	changed chan struct{}

	mu    sync.Mutex
	spans []capture.Span // windows between lines that match the expressions start and end
	jmh   jmhRun

	lostForks []string // see LostForks
}

// A stream looks at the lines of stdout, of stderr, or of a file with JMH's text.
type stream struct {
	of      *Output
	windows bool   // lines may begin and end windows
	jmh     bool   // lines may be JMH's
	line    []byte // the current line, at most maxLine bytes of it
	judged  bool   // the current line has matched already
}

// maxLine is the maximum length of the part of a line that an Output examines, in bytes.
const maxLine = 4096

// NewOutput returns an Output that looks for lines that match the expressions in the rules, and for JMH's progress
// lines.
func NewOutput(r Rules) *Output {
	w := &Output{start: r.Start, end: r.End, changed: make(chan struct{}, 1)}
	w.stdout = stream{of: w, jmh: true, windows: r.From != FromStderr}
	w.stderr = stream{of: w, windows: r.From != FromStdout}
	return w
}

// OneStream reports whether lines of both stdout and stderr can begin and end windows.
func (w *Output) OneStream() bool { return w.stdout.windows && w.stderr.windows }

// See takes a piece of stdout, and the time of its arrival on CLOCK_MONOTONIC.
func (w *Output) See(out []byte, monoNanos int64) { w.stdout.see(out, monoNanos) }

// SeeStderr takes a piece of stderr, and the time of its arrival on CLOCK_MONOTONIC.
func (w *Output) SeeStderr(out []byte, monoNanos int64) { w.stderr.see(out, monoNanos) }

// see takes a piece of output, and the time of its arrival. It looks at a line before the line is complete, because JMH
// prints "Iteration 1: " when the iteration begins, and the rest of the line when the iteration is over.
func (l *stream) see(out []byte, monoNanos int64) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	for len(out) > 0 {
		part, rest, whole := bytes.Cut(out, []byte{'\n'})
		room := maxLine - len(l.line)
		l.line = append(l.line, part[:min(room, len(part))]...)
		if room > 0 || whole {
			l.judge(whole, monoNanos)
		}
		if whole {
			l.line, l.judged = l.line[:0], false
		}
		out = rest
	}
}

// judge examines the current line. whole is true if the line is complete.
func (l *stream) judge(whole bool, monoNanos int64) {
	line := bytes.TrimSuffix(l.line, []byte{'\r'})
	if l.jmh {
		l.of.jmh.see(line, whole, monoNanos)
	}
	// One line can't both end a window and begin the next one.
	if l.windows && !l.judged && !ofGasm(line, whole) {
		l.judged = l.of.judge(line, monoNanos)
	}
}

// pickedUp lists how the lines begin that JVMs print on stderr only because of gasm's options. Each JVM prints such a
// line, and so does the java launcher of JDK 9 and newer: "Picked up JAVA_TOOL_OPTIONS: -XX:+UnlockDiagnosticVMOptions
// …".
var pickedUp = [][]byte{[]byte("Picked up J"), []byte("NOTE: Picked up J")}

// ofGasm reports whether a line is there only because of gasm. For a line that is not complete yet, it reports whether
// it may still become such a line.
func ofGasm(line []byte, whole bool) bool {
	return slices.ContainsFunc(pickedUp, func(begin []byte) bool {
		return bytes.HasPrefix(line, begin) || !whole && len(line) > 0 && bytes.HasPrefix(begin, line)
	})
}

// judge opens or closes a window if a line matches, and returns true if it did so. The caller must hold the lock.
func (w *Output) judge(line []byte, monoNanos int64) (matched bool) {
	last := len(w.spans) - 1
	open := last >= 0 && w.spans[last].ToMonoNanos == 0
	switch {
	case open && w.end != nil && w.end.Match(line):
		w.spans[last].ToMonoNanos = monoNanos
	case !open && w.start != nil && w.start.Match(line):
		w.spans = append(w.spans, capture.Span{FromMonoNanos: monoNanos})
	case w.start == nil && w.end != nil && last < 0 && w.end.Match(line):
		w.spans = []capture.Span{{ToMonoNanos: monoNanos}}
	default:
		return false
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
	return true
}

// OnJMHProbe sets a function f. The method See calls f(true) when JMH begins to ask its JVM for compiler blackholes,
// and f(false) when JMH has the answer. f must be quick. OnJMHProbe must be called before the first call of See.
func (w *Output) OnJMHProbe(f func(begins bool)) { w.jmh.onProbe = f }

// JMHBlackholes returns what JMH says about its blackhole mode, for example "compiler (auto-detected, use …)". It
// returns "" if the command is not JMH.
func (w *Output) JMHBlackholes() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jmh.blackholes
}

// Spans returns the windows between lines that matched. If no line has ended the last window, its end is 0. If the
// rules have only an end expression, there is one window, which begins at time 0.
func (w *Output) Spans() []capture.Span { return w.spansFrom(0) }

// spansFrom returns the windows from index first on.
func (w *Output) spansFrom(first int) []capture.Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.spans[first:])
}
