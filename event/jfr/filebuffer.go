package jfr

import (
	"errors"
	"io"
)

// bufferSize is the number of bytes that are usually read at once. Most events are shorter than a hundred bytes, so one
// ReadAt reads thousands of them.
const bufferSize = 256 << 10

// A fileBuffer returns pieces of a file. It keeps the bytes that were read last, because the file is mostly read from
// start to end.
type fileBuffer struct {
	file io.ReaderAt
	size int64
	base int64  // offset of buf in the file
	buf  []byte // the bytes that were read last
	err  error  // the first I/O error
}

// view returns n bytes of the file, starting at an offset. At the end of the file it returns fewer. The bytes are valid
// until the next call.
func (w *fileBuffer) view(at, n int64) []byte {
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

// rest returns the bytes from an offset of the file to the end of the buffer. If they are too few, it reads the next
// bufferSize bytes.
func (w *fileBuffer) rest(at int64) []byte {
	const enough = 64 // must be longer than magic, so that a search for it makes progress
	if read := w.base + int64(len(w.buf)) - at; at >= w.base && read >= enough {
		return w.buf[at-w.base:]
	}
	return w.view(at, bufferSize)
}

// fill reads at least n bytes at an offset. At the end of the file it reads fewer.
func (w *fileBuffer) fill(at, n int64) {
	want := min(max(n, bufferSize), w.size-at)
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
