package record

import (
	"bytes"
	"regexp"
	"slices"
	"sync"

	"github.com/gasm-profiler/gasm/capture"
)

// An outputWatch sees what the command prints as it passes. It notes when lines arrive
// that begin or end a measurement: those that match the user's expressions, and JMH's
// progress lines.
type outputWatch struct {
	start, end *regexp.Regexp // nil: not asked for

	// Each of these has lines of its own.
	stdout, stderr lineWatch
	// changed has one element when a window has opened or closed.
	changed chan struct{}

	mu    sync.Mutex
	spans []capture.Span // by start and end
	jmh   jmhRun

	lostForks []string // see LostForks
}

// A lineWatch looks at the lines of one stream.
type lineWatch struct {
	of      *outputWatch
	windows bool   // lines may begin and end windows
	jmh     bool   // they may be JMH's
	line    []byte // of the current line, at most maxLine bytes
	judged  bool   // the current line has matched already
}

// maxLine is how many bytes of a line are looked at.
const maxLine = 4096

// newOutputWatch watches for lines that match start and end, and for JMH. Each of the
// two expressions may be nil.
func newOutputWatch(start, end *regexp.Regexp) *outputWatch {
	w := &outputWatch{start: start, end: end, changed: make(chan struct{}, 1)}
	w.stdout = lineWatch{of: w, jmh: true, windows: true}
	w.stderr = lineWatch{of: w, windows: true}
	return w
}

// only limits the lines that begin and end windows to those of one stream. It must be
// called before the first See.
func (w *outputWatch) only(from WindowSource) {
	w.stdout.windows = w.stdout.windows && from != FromStderr
	w.stderr.windows = w.stderr.windows && from != FromStdout
}

// ofBoth tells whether the lines of both streams count alike.
func (w *outputWatch) ofBoth() bool { return w.stdout.windows && w.stderr.windows }

// See takes a piece of stdout, and the time of its arrival.
func (w *outputWatch) See(out []byte, monoNanos int64) { w.stdout.See(out, monoNanos) }

// See takes a piece of output, and the time of its arrival. A line is looked at before
// it is complete, because JMH prints "Iteration   1: " when the iteration begins and
// the rest of the line when the iteration is over.
func (l *lineWatch) See(out []byte, monoNanos int64) {
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

// judge looks at the current line. whole tells that it is complete.
func (l *lineWatch) judge(whole bool, monoNanos int64) {
	line := bytes.TrimSuffix(l.line, []byte{'\r'})
	if l.jmh {
		l.of.jmh.see(line, whole, monoNanos)
	}
	// One line can't both end a window and begin the next.
	if l.windows && !l.judged && !ofGasm(line, whole) {
		l.judged = l.of.judge(line, monoNanos)
	}
}

// pickedUp begin lines that each JVM, and java of JDK 9 and newer, write on stderr because of
// gasm's options: "Picked up JAVA_TOOL_OPTIONS: -XX:+UnlockDiagnosticVMOptions …".
var pickedUp = [][]byte{[]byte("Picked up J"), []byte("NOTE: Picked up J")}

// ofGasm tells lines that would not be there without gasm. One that is not whole yet may
// become such a line.
func ofGasm(line []byte, whole bool) bool {
	return slices.ContainsFunc(pickedUp, func(begin []byte) bool {
		return bytes.HasPrefix(line, begin) || !whole && len(line) > 0 && bytes.HasPrefix(begin, line)
	})
}

// judge opens or closes a window if a line matches. The caller has the lock.
func (w *outputWatch) judge(line []byte, monoNanos int64) (matched bool) {
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

// OnJMHProbe sets a function that is called when JMH is about to find out whether its
// JVM has compiler blackholes (true), and when it has found out (false). See calls it,
// so it must be quick. It must be set before the first See.
func (w *outputWatch) OnJMHProbe(f func(begins bool)) { w.jmh.onProbe = f }

// JMHBlackholes is what JMH says about its blackhole mode, "compiler (auto-detected,
// use …)"; "" when the command is not JMH.
func (w *outputWatch) JMHBlackholes() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jmh.blackholes
}

// Spans gives the windows between lines that matched. The end of the last one is 0
// when no line has ended it. With an end expression alone there is one window, which
// begins at time 0.
func (w *outputWatch) Spans() []capture.Span { return w.spansFrom(0) }

// spansFrom gives the windows without the first ones.
func (w *outputWatch) spansFrom(first int) []capture.Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.spans[first:])
}
