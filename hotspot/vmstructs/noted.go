package vmstructs

import (
	"bytes"
	"io"
)

// Noted has what a function has read of a process's memory. If the memory is unchanged, the function would return the
// same again, so nobody needs to call it. To read the memory again takes one system call, even after many reads.
type Noted struct {
	under  io.ReaderAt
	pieces []Piece
	size   int  // bytes in all pieces
	failed bool // a read has failed
}

// Noting returns a copy of the VM whose reads are noted. Only one goroutine may use the copy.
func (vm *VM) Noting() (*VM, *Noted) {
	n := &Noted{under: vm.reader}
	other := *vm
	other.reader = n
	return &other, n
}

// ReadAt reads len(buf) bytes at an address, and notes them.
func (n *Noted) ReadAt(buf []byte, addr int64) (int, error) {
	read, err := n.under.ReadAt(buf, addr)
	if err == nil {
		n.pieces = append(n.pieces, Piece{uint64(addr), bytes.Clone(buf)})
		n.size += len(buf)
	}
	n.failed = n.failed || err != nil
	return read, err
}

// Failed reports whether a read has failed. If the memory could be read later, it might return another result.
func (n *Noted) Failed() bool { return n.failed }

// Size returns the number of bytes that were read.
func (n *Noted) Size() int { return n.size }

// Unchanged reports whether all that was read successfully is still in the memory m. It returns false if m can't be
// read.
func (n *Noted) Unchanged(m Memory) bool {
	now := make([]byte, n.size)
	pieces := make([]Piece, len(n.pieces))
	from := 0
	for i, p := range n.pieces {
		pieces[i] = Piece{p.Addr, now[from : from+len(p.Buf)]}
		from += len(p.Buf)
	}
	if _, err := m.Gather(pieces); err != nil {
		return false
	}
	for i, p := range n.pieces {
		if !bytes.Equal(p.Buf, pieces[i].Buf) {
			return false
		}
	}
	return true
}
