package vmstructs

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// A Piece is a part of a process's memory: Buf gets the bytes from Addr on.
type Piece struct {
	Addr uint64
	Buf  []byte
}

// A gatherer reads many pieces at once. It tells how many it has read from the first one
// on. The error is why it could not read the next one.
type gatherer interface {
	readPieces(pieces []Piece) (read int, err error)
}

// Gather reads many pieces of the memory, up to 1024 with one system call. It is for
// what lies scattered: the headers of blobs, names.
//
// It reads in the order of the pieces, and tells how many it has read. If these are not
// all, then the error is about the first of the others. A caller that can do without
// that one goes on behind it.
func (m Memory) Gather(pieces []Piece) (read int, err error) {
	for _, p := range pieces {
		if len(p.Buf) > maxRead {
			return 0, tooLarge(p.Addr, uint64(len(p.Buf)))
		}
	}
	if g, ok := m.reader.(gatherer); ok {
		for read < len(pieces) && err == nil {
			var n int
			n, err = g.readPieces(pieces[read:])
			read += n
		}
	} else {
		read, err = readEach(m.reader, pieces)
	}
	if err != nil {
		p := pieces[read]
		err = fmt.Errorf("reading %d bytes at %#x: %w", len(p.Buf), p.Addr, err)
	}
	return read, err
}

// readEach reads pieces one by one.
func readEach(r io.ReaderAt, pieces []Piece) (read int, err error) {
	for i, p := range pieces {
		if _, err := r.ReadAt(p.Buf, int64(p.Addr)); err != nil {
			return i, err
		}
	}
	return len(pieces), nil
}

// GatherSome reads those of the pieces that can be read, and tells of each whether it
// was. The error is set only if the memory can't be read at all any more, because the
// process has ended or forbids it.
func (m Memory) GatherSome(pieces []Piece) (ok []bool, err error) {
	ok = make([]bool, len(pieces))
	for from := 0; from < len(pieces); {
		n, err := m.Gather(pieces[from:])
		for i := range n {
			ok[from+i] = true
		}
		if err != nil && lost(err) {
			return ok, err
		}
		from += n + 1 // the next one can't be read
	}
	return ok, nil
}

// lost tells that nothing of a process can be read any more.
func lost(err error) bool { return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) }
