package vmstructs

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// A Piece is a part of a process's memory: the len(Buf) bytes at Addr, which are read into Buf.
type Piece struct {
	Addr uint64
	Buf  []byte
}

// A gatherer can read many pieces at once. readPieces reads the pieces in order, beginning with the first, and returns
// the number of pieces that it has read. If it stops at a piece that can't be read, err says why. If it stops only
// because one system call can't read more, err is nil.
type gatherer interface {
	readPieces(pieces []Piece) (read int, err error)
}

// Gather reads many pieces of memory, up to 1024 of them with one system call. It is meant for things that are
// scattered over the memory, such as names or the headers of blobs (pieces of compiled code).
//
// It reads in the order of the pieces and returns how many it has read. If err is not nil, it is the error of
// pieces[read]. A caller that does not need that piece can call Gather again with the pieces after it, or use
// [Memory.GatherSome].
func (m Memory) Gather(pieces []Piece) (read int, err error) {
	total := uint64(0)
	for _, p := range pieces {
		if len(p.Buf) > maxRead {
			return 0, tooLarge(p.Addr, uint64(len(p.Buf)))
		}
		total += uint64(len(p.Buf))
	}
	if err := m.budget.take(total); err != nil {
		return 0, err
	}
	return m.gather(pieces)
}

// gather is like Gather, except that the budget has been charged for the pieces, none of which is too large.
func (m Memory) gather(pieces []Piece) (read int, err error) {
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

// GatherSome reads the pieces that can be read, and returns for each piece whether it was read. The budget is charged
// for all of them once. GatherSome returns an error only if the budget does not suffice, or if nothing of the process
// can be read any more, because the process has ended or the kernel refuses.
func (m Memory) GatherSome(pieces []Piece) (ok []bool, err error) {
	ok = make([]bool, len(pieces))
	total := uint64(0)
	for _, p := range pieces {
		if len(p.Buf) <= maxRead {
			total += uint64(len(p.Buf))
		}
	}
	if err := m.budget.take(total); err != nil {
		return ok, err
	}
	for from := 0; from < len(pieces); {
		to := from // the next piece that is too large
		for to < len(pieces) && len(pieces[to].Buf) <= maxRead {
			to++
		}
		n, err := m.gather(pieces[from:to])
		for i := range n {
			ok[from+i] = true
		}
		if err != nil && lost(err) {
			return ok, err
		}
		from += n + 1 // pieces[from+n] can't be read
	}
	return ok, nil
}

// lost reports whether err means that nothing of the process can be read any more.
func lost(err error) bool { return errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) }
