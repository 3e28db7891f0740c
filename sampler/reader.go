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

// A lineScanner reads lines and knows whether the last one is whole.
type lineScanner struct {
	in   *bufio.Scanner
	text []byte // of the line, valid until the next scan
	line int    // its number, from 1
	cut  bool   // it has no end: its writer was stopped
	err  error
}

func newLineScanner(r io.Reader) *lineScanner {
	s := &lineScanner{in: bufio.NewScanner(r)}
	s.in.Buffer(make([]byte, 64<<10), maxLine)
	s.in.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		s.cut = atEOF && bytes.IndexByte(data, '\n') < 0
		return bufio.ScanLines(data, atEOF)
	})
	return s
}

// cutWord tells whether the line's last word may go on. Blanks end one.
func (s *lineScanner) cutWord() bool {
	return s.cut && len(s.text) > 0 && !isBlank(s.text[len(s.text)-1])
}

func (s *lineScanner) scan() bool {
	if !s.in.Scan() {
		s.err = s.in.Err()
		return false
	}
	s.text = s.in.Bytes()
	s.line++
	return true
}
