package sampler

import (
	"bufio"
	"bytes"
	"io"
)

// A Reader reads one sampler's text, record by record. It is a [PerfReader], a
// [DTraceReader] or an [XCTraceReader].
type Reader interface {
	// Scan reads the next record. It returns false at EOF and on an I/O error.
	Scan() bool
	// Record returns a *Sample, *Lost or *SyntaxError, valid until the next Scan.
	Record() any
	// Err returns the I/O error that ended the reading, nil after plain EOF.
	Err() error
	// UserOnly reports whether all samples so far belong to events that leave the kernel out. If so, a
	// text without kernel samples does not mean that the kernel took no time.
	UserOnly() bool
}

// sniffed is how many bytes of a text NewReader looks at to recognize its sampler. A BEGIN probe's line
// and a heading may come before the first sample.
const sniffed = 4 << 10

// NewReader recognizes the sampler of the text of r, and returns the reader for it. The name is for
// messages only.
func NewReader(r io.Reader, name string) Reader {
	in := bufio.NewReaderSize(r, 64<<10)
	start, _ := in.Peek(sniffed) // the first Scan meets the same error
	if isXCTrace(start) {
		return NewXCTraceReader(in, name)
	}
	if isDTrace(start) {
		return NewDTraceReader(in, name)
	}
	return NewPerfReader(in, name)
}

// isXCTrace reports whether a text that begins with start is an export of xctrace.
func isXCTrace(start []byte) bool {
	return bytes.HasPrefix(start, []byte("<?xml")) || bytes.HasPrefix(start, []byte("<trace-query-result"))
}

// isDTrace reports whether a text that begins with start is DTrace's. It begins with "dtrace: " if
// DTrace's stderr was saved with it.
func isDTrace(start []byte) bool {
	return bytes.HasPrefix(start, []byte("dtrace: ")) ||
		bytes.Contains(start, []byte(":"+probePrefix)) || bytes.Contains(start, []byte("FUNCTION:NAME"))
}
