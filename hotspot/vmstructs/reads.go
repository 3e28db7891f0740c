package vmstructs

import (
	"bytes"
	"io"
)

// Reads has what a function has read of a process's memory. If the memory is unchanged, the function would return the
// same again, so nobody needs to call it. To read the memory again takes one system call, even after many reads.
type Reads struct {
	under  io.ReaderAt
	pieces []Piece
	size   int  // bytes in all pieces
	failed bool // a read has failed
}

// KeepReads returns a copy of the VM, and keeps what is read through the copy in the Reads. Only one goroutine may use
// the copy.
func (vm *VM) KeepReads() (*VM, *Reads) {
	r := &Reads{under: vm.reader}
	other := *vm
	other.reader = r
	return &other, r
}

// ReadAt reads len(buf) bytes at an address, and keeps a copy of them.
func (r *Reads) ReadAt(buf []byte, addr int64) (int, error) {
	read, err := r.under.ReadAt(buf, addr)
	if err == nil {
		r.pieces = append(r.pieces, Piece{uint64(addr), bytes.Clone(buf)})
		r.size += len(buf)
	}
	r.failed = r.failed || err != nil
	return read, err
}

// Failed reports whether a read has failed. If the memory could be read later, it might return another result.
func (r *Reads) Failed() bool { return r.failed }

// Size returns the number of bytes that were read.
func (r *Reads) Size() int { return r.size }

// Unchanged reports, for each of the Reads, whether the memory m still has what was read successfully. It reports false
// if m can't be read.
func Unchanged(m Memory, reads []*Reads) (same []bool) {
	same = make([]bool, len(reads))
	if len(reads) == 0 {
		return same
	}
	size, count := 0, 0
	for _, r := range reads {
		size += r.size
		count += len(r.pieces)
	}
	now, pieces := make([]byte, size), make([]Piece, 0, count)
	for _, r := range reads {
		for _, p := range r.pieces {
			pieces = append(pieces, Piece{p.Addr, now[:len(p.Buf):len(p.Buf)]})
			now = now[len(p.Buf):]
		}
	}
	ok, err := m.GatherSome(pieces)
	if err != nil {
		return same
	}
	for i, r := range reads {
		same[i] = true
		for k, p := range r.pieces {
			same[i] = same[i] && ok[k] && bytes.Equal(p.Buf, pieces[k].Buf)
		}
		ok, pieces = ok[len(r.pieces):], pieces[len(r.pieces):]
	}
	return same
}
