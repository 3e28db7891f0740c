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
	// Record returns what Scan has read: a *Sample, *Lost or *SyntaxError. It is valid until the next Scan.
	Record() any
	// Err returns the I/O error that ended the reading. It returns nil at EOF.
	Err() error
	// UserOnly reports whether all samples so far belong to events that leave the kernel out. If so, the kernel may
	// have taken time although the text has no samples of it.
	UserOnly() bool
}

// sniffed is the number of bytes at the start of a text from which NewReader recognizes the sampler. It is more than
// one line, because DTrace's text may begin with the line of a BEGIN probe and a heading.
const sniffed = 4 << 10

// NewReader recognizes the sampler that wrote the text of r, and returns the reader for it. The name is used only in
// messages.
func NewReader(r io.Reader, name string) Reader { return newReader(r, name, false) }

// NewChainReader returns a reader as NewReader does. Its samples have the [Chain]s that are in the text. Stack lines
// that can't be read become *SyntaxError records.
func NewChainReader(r io.Reader, name string) Reader { return newReader(r, name, true) }

func newReader(r io.Reader, name string, keepChains bool) Reader {
	in := bufio.NewReaderSize(r, 64<<10)
	start, _ := in.Peek(sniffed) // an error comes again at the first Scan
	if isXCTrace(start) {
		return NewXCTraceReader(in, name)
	}
	if isDTrace(start) {
		return NewDTraceReader(in, name)
	}
	perf := NewPerfReader(in, name)
	perf.keepChains = keepChains
	return perf
}

// isXCTrace reports whether a text is an xctrace export. The parameter start is the beginning of the text.
func isXCTrace(start []byte) bool {
	return bytes.HasPrefix(start, []byte("<?xml")) || bytes.HasPrefix(start, []byte("<trace-query-result"))
}

// isDTrace reports whether a text is DTrace's. The parameter start is the beginning of the text. If DTrace's stderr was
// saved with the text, the text may begin with "dtrace: ".
func isDTrace(start []byte) bool {
	return bytes.HasPrefix(start, []byte("dtrace: ")) ||
		bytes.Contains(start, []byte(":"+probePrefix)) || bytes.Contains(start, []byte("FUNCTION:NAME"))
}
