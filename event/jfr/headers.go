package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Header is what the header of a finished chunk says.
type Header struct {
	Offset, Size  int64 // where the chunk is in the file, in bytes
	Clock         Clock
	DurationNanos int64
}

// End returns when the chunk ended, in nanoseconds on the clock of the chunk's ticks.
func (h *Header) End() int64 { return h.Start() + h.DurationNanos }

// Start returns when the chunk began, in nanoseconds on the clock of the chunk's ticks.
func (h *Header) Start() int64 { return h.Clock.Nanos(h.Clock.StartTicks) }

// maxHeaders is the maximum number of chunks that Headers lists.
const maxHeaders = 1 << 12

// Headers returns the headers of a file's chunks, without reading the chunks. If a chunk is not finished or not whole,
// Headers also returns an error, and only the headers of the chunks before it.
func Headers(f io.ReaderAt, size int64) (all []Header, err error) {
	d := make([]byte, headerSize)
	for at := int64(0); at < size; {
		n, err := f.ReadAt(d, at)
		if n < headerSize && err != nil && !errors.Is(err, io.EOF) {
			return all, fmt.Errorf("reading a chunk: %w", err)
		}
		if !bytes.HasPrefix(d[:n], magic) {
			return all, fmt.Errorf("the bytes at %d are not a chunk", at)
		}
		c, err := parseHeader(d[:n], at, size)
		switch {
		case err != nil:
			return all, err
		case !c.sized:
			return all, errors.New("a chunk is not finished, or the file is cut")
		case len(all) == maxHeaders:
			return all, fmt.Errorf("there are more than %d chunks", maxHeaders)
		}
		all = append(all, Header{at, c.end - at, c.Clock, c.DurationNanos})
		at = c.end
	}
	return all, nil
}
