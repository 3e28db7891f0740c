package printassembly

import (
	"bufio"
	"errors"
	"io"
)

// A lineReader gives the lines of a piece of a log without their ends, however long
// they are.
type lineReader struct {
	r    *bufio.Reader
	long []byte // holds a line that is longer than r's buffer
	line []byte // valid until the next call of next
	err  error
	// indent is how many bytes in front of each line are not HotSpot's, but the
	// columns of counts with which JMH saves its logs.
	indent int
}

// next reads the next line; false at the end and on an I/O error.
func (l *lineReader) next() bool {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	switch {
	case err == nil:
		line = line[:len(line)-1]
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
