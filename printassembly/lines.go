package printassembly

import (
	"bufio"
	"errors"
	"io"
)

// lineReader gives the lines of a log without their ends, however long they
// are, and knows where each one starts.
type lineReader struct {
	r    *bufio.Reader
	long []byte // holds a line that is longer than r's buffer
	line []byte // valid until the next call of next
	at   int64  // offset of line in the log
	end  int64  // offset behind line and its end
	// cut tells that the last line has no end: the JVM died while writing it.
	cut bool
	err error
	// indent is how much in front of each line is not HotSpot's: JMH saves its
	// logs with columns of counts.
	indent int
}

func newLineReader(r io.Reader, at int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 1<<18), at: at, end: at}
}

// next reads the next line; false at the end and on an I/O error.
func (l *lineReader) next() bool {
	l.at = l.end
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	l.end += int64(len(line))
	if err != nil {
		if !errors.Is(err, io.EOF) {
			l.err = err
			return false
		}
		if len(line) == 0 {
			return false
		}
		l.cut = true
	} else {
		line = line[:len(line)-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	l.line = line[min(l.indent, len(line)):]
	return true
}
