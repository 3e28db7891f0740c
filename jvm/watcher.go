package jvm

import (
	"bytes"
	"regexp"
	"sync"
)

// A Watcher sees the command's stdout as it passes and notes when the lines
// arrive that begin or end a measurement: those of the user's own expressions,
// and JMH's progress lines.
type Watcher struct {
	start, end *regexp.Regexp // nil: not asked for

	mu     sync.Mutex
	line   []byte // of the current line, at most maxLine bytes
	judged bool   // the current line has matched already
	spans  []Span // by start and end
	jmh    jmhRun

	lostForks []string // see LostForks
}

// A Span is a time on the samples' clock, [FromMonoNanos, ToMonoNanos). An end
// of 0 has not come yet.
type Span struct {
	FromMonoNanos int64 `json:"from_mono_nanos"`
	ToMonoNanos   int64 `json:"to_mono_nanos"`
}

// maxLine is how much of a line is looked at.
const maxLine = 4096

// NewWatcher watches for lines that match start and end, each of which may be
// nil, and for JMH.
func NewWatcher(start, end *regexp.Regexp) *Watcher { return &Watcher{start: start, end: end} }

// See takes a piece of output that arrived at a time. A line need not be whole
// to be seen: JMH prints "Iteration   1: " when the iteration begins and the
// rest of the line when it is over.
func (w *Watcher) See(out []byte, monoNanos int64) {
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

// judge looks at the current line, whole or as far as it has come.
func (w *Watcher) judge(whole bool, monoNanos int64) {
	line := bytes.TrimSuffix(w.line, []byte{'\r'})
	w.jmh.see(line, whole, monoNanos)
	if w.judged {
		return // a line begins or ends one window, not both
	}
	last := len(w.spans) - 1
	open := last >= 0 && w.spans[last].ToMonoNanos == 0
	switch {
	case open && w.end != nil && w.end.Match(line):
		w.spans[last].ToMonoNanos, w.judged = monoNanos, true
	case !open && w.start != nil && w.start.Match(line):
		w.spans, w.judged = append(w.spans, Span{FromMonoNanos: monoNanos}), true
	case w.start == nil && w.end != nil && last < 0 && w.end.Match(line):
		w.spans, w.judged = []Span{{ToMonoNanos: monoNanos}}, true
	}
}

// OnJMHProbe sets what is called when JMH is about to find out whether its JVM
// has compiler blackholes (true), and when it has found out (false). It is
// called from See and must be quick; set it before the first See.
func (w *Watcher) OnJMHProbe(f func(begins bool)) { w.jmh.onProbe = f }

// JMHBlackholes is what JMH says of its blackhole mode, "" without JMH:
// "compiler (auto-detected, use …)".
func (w *Watcher) JMHBlackholes() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jmh.blackholes
}

// Spans gives the windows between lines that matched, the last one perhaps
// without an end. With an end expression alone there is one from time 0.
func (w *Watcher) Spans() []Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Span(nil), w.spans...)
}
