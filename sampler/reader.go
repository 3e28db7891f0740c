package sampler

import (
	"bufio"
	"bytes"
	"io"
)

// A Reader reads one sampler's text, record by record: a [PerfReader] or a
// [DTraceReader].
type Reader interface {
	// Scan reads the next record. It returns false at EOF and on an I/O error.
	Scan() bool
	// Record returns a *Sample, *Lost or *SyntaxError, valid until the next Scan.
	Record() any
	// Err returns the I/O error that ended the reading, nil after plain EOF.
	Err() error
	// UserOnly tells whether a missing kernel sample means nothing.
	UserOnly() bool
}

// sniffed is how much of a text is looked at to tell whose it is. A BEGIN
// probe's line and a heading may come before the first sample.
const sniffed = 4 << 10

// NewReader returns the reader for the text of r, by what the text looks like.
// The name is only for messages.
func NewReader(r io.Reader, name string) Reader {
	in := bufio.NewReaderSize(r, 64<<10)
	start, _ := in.Peek(sniffed) // an error shows again at the first Scan
	if isDTrace(start) {
		return NewDTraceReader(in, name)
	}
	return NewPerfReader(in, name)
}

func isDTrace(start []byte) bool {
	return bytes.HasPrefix(start, []byte("dtrace: ")) || // its stderr is with it
		bytes.Contains(start, []byte(":profile-")) || bytes.Contains(start, []byte("FUNCTION:NAME"))
}
