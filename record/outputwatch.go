package record

import (
	"bytes"
	"regexp"
	"sync"

	"github.com/gasm-profiler/gasm/capture"
)

// An outputWatch sees the command's stdout as it passes. It notes when lines arrive
// that begin or end a measurement: those that match the user's expressions, and JMH's
// progress lines.
type outputWatch struct {
	start, end *regexp.Regexp // nil: not asked for

	mu     sync.Mutex
	line   []byte         // of the current line, at most maxLine bytes
	judged bool           // the current line has matched already
	spans  []capture.Span // by start and end
	jmh    jmhRun

	lostForks []string // see LostForks
}

// maxLine is how many bytes of a line are looked at.
const maxLine = 4096

// newOutputWatch watches for lines that match start and end, and for JMH. Each of the
// two expressions may be nil.
func newOutputWatch(start, end *regexp.Regexp) *outputWatch {
	return &outputWatch{start: start, end: end}
}

// See takes a piece of output, and the time of its arrival. A line is looked at before
// it is complete, because JMH prints "Iteration   1: " when the iteration begins and
// the rest of the line when the iteration is over.
func (w *outputWatch) See(out []byte, monoNanos int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(out) > 0 {
		part, rest, whole := bytes.Cut(out, []byte{'\n'})
		room := maxLine - len(w.line)
		w.line = append(w.line, part[:min(room, len(part))]...)
		if room > 0 || whole {
			w.judge(whole, monoNanos)
		}
		if whole {
			w.line, w.judged = w.line[:0], false
		}
		out = rest
	}
}

// judge looks at the current line. whole tells that it is complete.
func (w *outputWatch) judge(whole bool, monoNanos int64) {
	line := bytes.TrimSuffix(w.line, []byte{'\r'})
	w.jmh.see(line, whole, monoNanos)
	if w.judged {
		return // one line can't both end a window and begin the next
	}
	last := len(w.spans) - 1
	open := last >= 0 && w.spans[last].ToMonoNanos == 0
	switch {
	case open && w.end != nil && w.end.Match(line):
		w.spans[last].ToMonoNanos, w.judged = monoNanos, true
	case !open && w.start != nil && w.start.Match(line):
		w.spans, w.judged = append(w.spans, capture.Span{FromMonoNanos: monoNanos}), true
	case w.start == nil && w.end != nil && last < 0 && w.end.Match(line):
		w.spans, w.judged = []capture.Span{{ToMonoNanos: monoNanos}}, true
	}
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
func (w *outputWatch) Spans() []capture.Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]capture.Span(nil), w.spans...)
}
