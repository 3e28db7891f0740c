package jfr

import (
	"errors"
	"io"
)

// windowSize is how much is read at once. Most events have less than a hundred bytes.
const windowSize = 256 << 10

// A window gives pieces of a file, which are mostly read from its front to its end.
type window struct {
	file io.ReaderAt
	size int64
	base int64  // where buf begins in the file
	buf  []byte // what is there
	err  error  // why the file could not be read
}

// view gives n bytes at a place of the file, fewer at its end. They are valid until the next view.
func (w *window) view(at, n int64) []byte {
	if from := at - w.base; from >= 0 && from+n <= int64(len(w.buf)) {
		return w.buf[from : from+n]
	}
	n = min(n, w.size-at)
	if n <= 0 || w.err != nil {
		return nil
	}
	w.fill(at, n)
	return w.buf[:min(n, int64(len(w.buf)))]
}

// rest gives what there is of the file from a place on: what has been read already, or the next piece.
func (w *window) rest(at int64) []byte {
	const enough = 64 // for any magic
	if read := w.base + int64(len(w.buf)) - at; at >= w.base && read >= enough {
		return w.buf[at-w.base:]
	}
	return w.view(at, windowSize)
}

// fill reads at least n bytes, where the file has them.
func (w *window) fill(at, n int64) {
	want := min(max(n, windowSize), w.size-at)
	if int64(cap(w.buf)) < want {
		w.buf = make([]byte, want)
	}
	w.base, w.buf = at, w.buf[:want]
	got, err := w.file.ReadAt(w.buf, at)
	w.buf = w.buf[:max(got, 0)]
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
}
