package usdt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

// A dtraceEvent is a firing of a probe, as DTrace prints it.
type dtraceEvent struct {
	probe, cpu int
	mono       uint64
	tid        int
	fields     []dtraceField // the fields after the thread, in the order of the line
}

// A dtraceField is a number or a text of an event.
type dtraceField struct {
	number uint64
	text   []byte
	isText bool
}

// A dtraceMark says that DTrace has printed all events of a processor that are older than the
// mark's time.
type dtraceMark struct {
	cpu  int
	mono uint64
}

// A dtraceTotal is how often probes were reached, including the firings that DTrace lost.
type dtraceTotal int64

// A dtraceReader reads what DTrace prints when it runs a [dtraceScript], up to DTrace's last line.
type dtraceReader struct {
	in     *bufio.Reader
	err    error // the error that ended the reading; nil after DTrace's last line or the end of its text
	line   int
	record any // what scan has read: a *dtraceEvent, a *dtraceMark, a dtraceTotal or a *usdt.SyntaxError
	ended  bool
}

const (
	// longestDTraceLine is the length of the longest line, in bytes. It has room for numbers and three texts, even if
	// every byte of the texts is escaped (as \342, for example).
	longestDTraceLine = 8 << 10
	// mostDTraceFields is the maximum number of fields of a line: a probe's arguments and their
	// texts, two return addresses, and the words of a stack. A line with more fields is a bad line.
	mostDTraceFields = 2*dtraceArguments + 2 + words
	// mostProcessors limits the numbers of the processors, which begin at 0. A line with a larger
	// number is a bad line.
	mostProcessors = 1 << 16
)

func newDTraceReader(r io.Reader) *dtraceReader {
	return &dtraceReader{in: bufio.NewReaderSize(r, longestDTraceLine)}
}

// scan reads up to the next event, mark, total or bad line. If the last line does not end with a newline, it is
// skipped: DTrace was killed while it wrote that line.
func (r *dtraceReader) scan() bool {
	for r.err == nil && !r.ended {
		line, err := r.in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			r.ended = true
			break
		}
		if err != nil {
			r.err = fmt.Errorf("reading DTrace's text: %w", err)
			break
		}
		r.line++
		var first bool
		if first, r.ended = dtrace.IsMark(line); first || r.ended {
			continue
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		if r.record = parseDTrace(line); long || r.record == nil {
			r.record = &usdt.SyntaxError{File: "dtrace", Line: r.line, Msg: "no probe and no mark as gasm has DTrace print them"}
		}
		return true
	}
	return false
}

// parseDTrace parses a line that DTrace has printed. It returns nil if the line does not have one of the forms that the
// script prints.
func parseDTrace(line []byte) any {
	kind, rest, _ := bytes.Cut(line, []byte(" "))
	if string(kind) == "n" {
		if n, err := strconv.ParseInt(string(rest), 10, 64); err == nil && n >= 0 {
			return dtraceTotal(n)
		}
		return nil
	}
	fields, ok := parseDTraceFields(rest)
	numbers := 0
	for numbers < len(fields) && !fields[numbers].isText {
		numbers++
	}
	switch {
	case !ok:
	case string(kind) == "m" && len(fields) == 2 && numbers == 2 && fields[0].number < mostProcessors:
		return &dtraceMark{int(fields[0].number), fields[1].number}
	case string(kind) == "e" && numbers >= 4 && fields[0].number <= math.MaxInt32 && fields[1].number < mostProcessors &&
		fields[3].number <= math.MaxInt32:
		return &dtraceEvent{int(fields[0].number), int(fields[1].number), fields[2].number, int(fields[3].number), fields[4:]}
	}
	return nil
}

func parseDTraceFields(rest []byte) (fields []dtraceField, ok bool) {
	for len(rest) > 0 && len(fields) < mostDTraceFields {
		var f dtraceField
		if rest[0] == '"' {
			f.isText = true
			f.text, rest, ok = cutEscaped(rest[1:])
		} else {
			var word []byte
			word, rest, _ = bytes.Cut(rest, []byte(" "))
			n, err := strconv.ParseUint(string(word), 16, 64)
			f.number, ok = n, err == nil
		}
		if !ok {
			return nil, false
		}
		fields = append(fields, f)
	}
	return fields, len(rest) == 0
}

// cutEscaped reads a text that DTrace's %S has written, up to the quote at its end. If a character
// is not printable ASCII, %S writes a backslash and a letter, or a backslash and three octal
// digits. A \0 ends the text in memory, so what follows it is left out. rest begins after the quote
// and the blank that may follow it.
func cutEscaped(from []byte) (text, rest []byte, ok bool) {
	text = []byte{}
	ended := false
	for i := 0; i < len(from); i++ {
		c := from[i]
		if c == '"' {
			rest = from[i+1:]
			return text, bytes.TrimPrefix(rest, []byte(" ")), len(rest) == 0 || rest[0] == ' '
		}
		if c == '\\' {
			i++
			var size int
			if c, size = unescaped(from[min(i, len(from)):]); size == 0 {
				return nil, nil, false
			}
			i += size - 1
			ended = ended || c == 0
		}
		if !ended {
			text = append(text, c)
		}
	}
	return nil, nil, false
}

// unescaped returns the byte that an escape sequence represents. The text begins after the backslash, as in `n` or
// `342`. size is the number of characters of the escape without the backslash. It is 0 if the escape is not valid.
func unescaped(from []byte) (c byte, size int) {
	if len(from) >= 3 {
		if n, err := strconv.ParseUint(string(from[:3]), 8, 8); err == nil {
			return byte(n), 3
		}
	}
	if len(from) == 0 {
		return 0, 0
	}
	if i := bytes.IndexByte([]byte(`0abfnrtv"\`), from[0]); i >= 0 {
		return "\x00\a\b\f\n\r\t\v\"\\"[i], 1
	}
	return 0, 0
}
