// Package multiply writes the samples of a capture many times, each time with later times.
package multiply

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// A Text is the text of a capture's samples in a form that can be written many times with different times.
type Text struct {
	lines []sampleLine
	span  int64 // how much later each copy of the text is than the copy before it, in ns
}

// A sampleLine is a line of the text, split at the sample's time.
type sampleLine struct {
	before, after []byte
	// The sample's time. It is -1 if the line is not a sample. Then the field before has the whole line.
	nanos int64
}

var (
	// "  832/832    1933.047237948: cpu-clock:  ffffffff81c3fab1 …"
	perfTime = regexp.MustCompile(`^\s*-?\d+/-?\d+\s+(\d+)\.(\d{9}):`)
	// "  1   3977      :profile-1001 25161 0x55c416692bd0 1912991847701  bash`…"
	dtraceTime = regexp.MustCompile(`^\s*\d+\s+\d+\s+:\S+ -?\d+ 0x[0-9a-f]+ (\d+)`)
)

// New splits the text of perf script or of dtrace into lines. The lines share the memory of the text, so the
// caller must not change the text afterwards.
func New(text []byte) (*Text, error) {
	t := &Text{}
	var first, last int64
	for line := range bytes.Lines(text) {
		l := newSampleLine(line)
		if l.nanos >= 0 {
			if last == 0 {
				first = l.nanos
			}
			first, last = min(first, l.nanos), max(last, l.nanos)
		}
		t.lines = append(t.lines, l)
	}
	if last == 0 {
		return nil, fmt.Errorf("no samples in %d lines", len(t.lines))
	}
	t.span = last - first + 1e6
	return t, nil
}

func newSampleLine(line []byte) sampleLine {
	at := perfTime.FindSubmatchIndex(line)
	digits := []byte(nil)
	switch {
	case at != nil:
		digits = append(append(digits, line[at[2]:at[3]]...), line[at[4]:at[5]]...)
		at = []int{at[2], at[5]}
	default:
		if at = dtraceTime.FindSubmatchIndex(line); at == nil {
			return sampleLine{before: line, nanos: -1}
		}
		digits = line[at[2]:at[3]]
		at = at[2:4]
	}
	nanos, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return sampleLine{before: line, nanos: -1}
	}
	return sampleLine{line[:at[0]], line[at[1]:], nanos}
}

// Write writes n samples. It repeats the text as often as needed, and each copy has later times than the copy before.
// Lines that are not samples are written once.
func (t *Text) Write(w io.Writer, n int64) error {
	var buf []byte
	for shift := int64(0); n > 0; shift += t.span {
		buf = buf[:0]
		for i := range t.lines {
			l := &t.lines[i]
			switch {
			case l.nanos < 0 && shift == 0:
				buf = append(buf, l.before...)
			case l.nanos >= 0 && n > 0:
				buf = l.appendShifted(buf, shift)
				n--
			}
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// appendShifted appends the line with its time increased by shift ns.
func (l *sampleLine) appendShifted(buf []byte, shift int64) []byte {
	nanos := l.nanos + shift
	buf = append(buf, l.before...)
	if bytes.HasPrefix(l.after, []byte(":")) { // perf's text
		buf = fmt.Appendf(buf, "%d.%09d", nanos/1e9, nanos%1e9)
	} else {
		buf = strconv.AppendInt(buf, nanos, 10)
	}
	return append(buf, l.after...)
}
