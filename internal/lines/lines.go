// Package lines reads texts of which any line may be damaged, and the last one cut.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A Reader gives the lines of a text one after another. A last line without its end is left out: something is writing it,
// or was killed while it did.
type Reader struct {
	in   *bufio.Reader
	n    int
	line []byte
	long bool
	err  error
}

// NewReader returns a reader of lines of at most so many bytes, their ends among them.
func NewReader(r io.Reader, longest int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, longest)}
}

// Scan goes to the next line; it is false at the end, and on an I/O error.
func (r *Reader) Scan() bool {
	if r.err != nil {
		return false
	}
	line, err := r.in.ReadSlice('\n')
	r.long = errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	if err != nil {
		r.err = err
		return false
	}
	r.n++
	if r.line = nil; !r.long {
		r.line = bytes.TrimRight(line, "\r\n")
	}
	return true
}

// Line is the line without its end, until the next Scan; nil when it is too long.
func (r *Reader) Line() []byte { return r.line }

// TooLong tells that the line is longer than any that means something, and was passed over.
func (r *Reader) TooLong() bool { return r.long }

// Number is that of the line, from 1 on: how many were read so far.
func (r *Reader) Number() int { return r.n }

// Err is the I/O error that ended the reading; nil after all was read.
func (r *Reader) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}
