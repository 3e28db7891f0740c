package printassembly

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A lineReader reads a piece of a log line by line, without the line ends. If a line is longer than maxLine, only its
// first maxLine bytes are returned.
type lineReader struct {
	r    *bufio.Reader
	long []byte // buffer for lines that are longer than r's buffer
	line []byte // the current line, until next is called again
	err  error
	// indent is the number of bytes at the start of each line that do not come from HotSpot. In logs that JMH saved,
	// there are columns of counts on the left.
	indent int
}

// reset makes the reader continue with another piece of the log.
func (l *lineReader) reset(piece io.Reader) {
	if l.r == nil {
		l.r = bufio.NewReaderSize(piece, 1<<14)
	} else {
		l.r.Reset(piece)
	}
}

// next advances to the next line. It returns false at the end and after an I/O error, which is then
// in err.
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
