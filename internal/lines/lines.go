// Package lines reads texts in which any line may be damaged and the last one cut off, because a program was killed
// while it wrote them. A reader of such a text reports a bad line as a [SyntaxError] and goes on.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A SyntaxError reports a line that does not have the form that its reader expects. The readers of the project's text
// formats export it under their own names (hslog.SyntaxError, sampler.SyntaxError).
type SyntaxError struct {
	File string // the name that the reader was created with
	Line int    // from 1
	Msg  string // what is wrong with the line
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// longestQuote limits how much of a damaged text a message quotes, in bytes.
const longestQuote = 64

// Quote quotes a text that is in a bad line, as %q does, for the message of a SyntaxError. If the text has more than
// longestQuote bytes, Quote quotes only its beginning, and adds how many bytes the text has.
func Quote(text string) string {
	if len(text) <= longestQuote {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:longestQuote], len(text))
}

// A Reader returns the lines of a text one after another. It skips a last line without a line end: another process is
// still writing it, or was killed while writing it.
type Reader struct {
	in   *bufio.Reader
	n    int
	line []byte
	long bool
	err  error
}

// NewReader returns a Reader of the lines in r. The parameter longest is the maximum length of a line in bytes,
// including the line end. If a line is longer, the Reader skips its text, and TooLong returns true.
func NewReader(r io.Reader, longest int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, longest)}
}

// Scan advances to the next line. It returns false at the end of the text and after an I/O error.
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

// Line returns the current line without its line end, or nil if the line is too long. The slice is valid until the next
// call of Scan.
func (r *Reader) Line() []byte { return r.line }

// TooLong reports whether the current line is longer than the limit that NewReader was given. Such a line is skipped.
func (r *Reader) TooLong() bool { return r.long }

// Number returns the number of the current line. The first line has number 1. So after the last Scan, Number returns
// how many lines were read.
func (r *Reader) Number() int { return r.n }

// Err returns the I/O error that ended the reading, or nil at the end of the text.
func (r *Reader) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}
