package sampler

import (
	"bytes"
	"strconv"
)

// A PerfText writes text as perf script does, in the form that a [PerfReader] reads. See the package
// comment for its lines.
type PerfText struct {
	lines  []byte
	events []string // the events as they are printed, padded to the same width
}

// NewPerfText returns an empty text for samples of some events. specs are their [Event.Spec].
func NewPerfText(specs []string) *PerfText {
	width := 0
	for _, spec := range specs {
		width = max(width, len(spec))
	}
	t := &PerfText{}
	for _, spec := range specs {
		t.events = append(t.events, string(padLeft(nil, spec, width)))
	}
	return t
}

// AddEvent adds an event, and returns its index.
func (t *PerfText) AddEvent(spec string) int {
	t.events = append(t.events, spec)
	return len(t.events) - 1
}

// Bytes returns the lines. They are valid until something is appended after a Reset.
func (t *PerfText) Bytes() []byte { return t.lines }

// Len returns the length of the lines in bytes.
func (t *PerfText) Len() int { return len(t.lines) }

// Reset removes all lines, and keeps their memory for the next ones.
func (t *PerfText) Reset() { t.lines = t.lines[:0] }

// Sample appends a line for a sample. event is the index of the sample's event. path is the mapped file, or what perf
// prints in place of one.
func (t *PerfText) Sample(s *Sample, event int, path string) {
	t.head(s)
	t.lines = append(t.lines, t.events[event]...)
	t.lines = append(t.lines, ": "...)
	var digits [16]byte
	t.lines = append(t.lines, ' ')
	t.lines = padLeft(t.lines, string(strconv.AppendUint(digits[:0], s.PC, 16)), 16)
	t.lines = append(t.lines, ' ')
	if s.Symbol == "" {
		t.lines = append(t.lines, "[unknown]"...)
	} else {
		t.lines = appendName(t.lines, s.Symbol)
	}
	t.lines = append(t.lines, " ("...)
	if path == "" {
		path = "[unknown]"
	}
	t.lines = appendName(t.lines, path)
	if s.Stack == 0 {
		t.lines = append(t.lines, ")\n"...)
		return
	}
	t.lines = append(append(t.lines, ')'), stackMark...)
	t.lines = append(strconv.AppendUint(t.lines, uint64(s.Stack), 10), '\n')
}

// DropStacks removes the IDs of stacks from all lines. It is used if the stacks themselves could not be saved.
func (t *PerfText) DropStacks() {
	kept := t.lines[:0]
	for rest := t.lines; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		line, _ = cutStack(line)
		kept = append(append(kept, line...), '\n') // overwrites only text that was already read
		rest = after
	}
	t.lines = kept
}

// Lost appends a line about lost samples. total is true if count is the kernel's final count for an event. This count
// includes losses that earlier lines have already reported.
func (t *PerfText) Lost(s *Sample, count int64, total bool) {
	t.head(s)
	t.lines = append(t.lines, "PERF_RECORD_LOST"...)
	if total {
		t.lines = append(t.lines, "_SAMPLES"...)
	}
	t.lines = append(t.lines, " lost "...)
	t.lines = strconv.AppendInt(t.lines, count, 10)
	t.lines = append(t.lines, '\n')
}

// head appends the thread's name and ids, and the time.
func (t *PerfText) head(s *Sample) {
	for range 16 - len(s.Thread) {
		t.lines = append(t.lines, ' ')
	}
	t.lines = append(appendName(t.lines, s.Thread), ' ')
	var digits [20]byte
	t.lines = padLeft(t.lines, string(strconv.AppendInt(digits[:0], int64(s.PID), 10)), 5)
	t.lines = append(t.lines, '/')
	tid := strconv.AppendInt(digits[:0], int64(s.TID), 10)
	t.lines = append(t.lines, tid...)
	for range 5 - len(tid) {
		t.lines = append(t.lines, ' ')
	}
	t.lines = append(t.lines, ' ')
	const second = 1_000_000_000
	t.lines = padLeft(t.lines, string(strconv.AppendInt(digits[:0], s.MonoNanos/second, 10)), 5)
	t.lines = append(t.lines, '.')
	nanos := strconv.AppendInt(digits[:0], s.MonoNanos%second+second, 10) // with leading zeros
	t.lines = append(append(t.lines, nanos[1:]...), ": "...)
}

// padLeft appends a text. If the text is shorter than width bytes, padLeft puts blanks before it to fill that width.
func padLeft(to []byte, text string, width int) []byte {
	for range width - len(text) {
		to = append(to, ' ')
	}
	return append(to, text...)
}

// appendName appends a name from the profiled program. It replaces each line break in the name with a question mark,
// and changes nothing else.
func appendName(to []byte, name string) []byte {
	start := len(to)
	to = append(to, name...)
	for i := start; i < len(to); i++ {
		if to[i] == '\n' {
			to[i] = '?'
		}
	}
	return to
}
