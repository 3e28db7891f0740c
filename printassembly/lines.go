package printassembly

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A lineReader gives the lines of a piece of a log without their ends. Of a line that is
// longer than maxLine it gives the beginning.
type lineReader struct {
	r    *bufio.Reader
	long []byte // holds a line that is longer than r's buffer
	line []byte // valid until the next call of next
	err  error
	// indent is how many bytes in front of each line are not HotSpot's, but the
	// columns of counts with which JMH saves its logs.
	indent int
}

// reset makes the reader go on with another piece of the log.
func (l *lineReader) reset(piece io.Reader) {
	if l.r == nil {
		l.r = bufio.NewReaderSize(piece, 1<<14)
	} else {
		l.r.Reset(piece)
	}
}

// next reads the next line; false at the end and on an I/O error.
func (l *lineReader) next() bool {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line[:min(len(line), maxLine-len(l.long))]...)
		}
		line = l.long
	}
	switch {
	case err == nil:
		line = bytes.TrimSuffix(line, []byte{'\n'})
	case !errors.Is(err, io.EOF):
		l.err = err
		return false
	case len(line) == 0:
		return false
	}
	line = trimCR(line)
	l.line = line[min(l.indent, len(line)):]
	return true
}
