package vmstructs

import (
	"errors"
	"io"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A processMemory reads the memory of a process. The offset of ReadAt is an address. process_vm_readv takes a
// process id, which the kernel may give to another process, so each read is followed by a check that the process
// has not ended.
type processMemory struct{ process *foreign.Process }

// newProcessMemory returns the memory of the process that has the id pid now. The foreign.Process is closed when the
// memory is garbage-collected.
func newProcessMemory(pid int) (*processMemory, error) {
	p, err := foreign.Open(pid)
	if errors.Is(err, foreign.ErrEnded) {
		return nil, unix.ESRCH
	}
	if err != nil {
		return nil, err
	}
	m := &processMemory{p}
	runtime.AddCleanup(m, (*foreign.Process).Close, p)
	return m, nil
}

// readv calls process_vm_readv, and returns ESRCH if the process has ended.
func (m *processMemory) readv(local []unix.Iovec, remote []unix.RemoteIovec) (int, error) {
	n, err := unix.ProcessVMReadv(m.process.PID(), local, remote, 0)
	if m.process.Exited() {
		n, err = 0, unix.ESRCH
	}
	runtime.KeepAlive(m)
	return n, err
}

func (m *processMemory) ReadAt(buf []byte, addr int64) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: len(buf)}}
	n, err := m.readv(local, remote)
	if err == nil && n < len(buf) {
		err = io.ErrUnexpectedEOF // only the first n bytes are mapped
	}
	return max(n, 0), err
}

// maxPieces is the maximum number of pieces that process_vm_readv takes (IOV_MAX).
const maxPieces = 1024

// maxGathered limits the number of bytes that one system call reads. The kernel reads at most 2 GB at once, and pieces
// beyond this limit would look as if they were not mapped.
const maxGathered = 1 << 28

// readPieces reads pieces in order, as many as one system call can read, and returns how many it has read.
func (m *processMemory) readPieces(pieces []Piece) (read int, err error) {
	local := make([]unix.Iovec, 0, min(len(pieces), maxPieces))
	remote := make([]unix.RemoteIovec, 0, cap(local))
	total, taken := 0, 0
	for _, p := range pieces {
		if len(remote) == maxPieces || total+len(p.Buf) > maxGathered {
			break
		}
		taken++
		if len(p.Buf) == 0 {
			continue
		}
		v := unix.Iovec{Base: &p.Buf[0]}
		v.SetLen(len(p.Buf))
		local = append(local, v)
		remote = append(remote, unix.RemoteIovec{Base: uintptr(p.Addr), Len: len(p.Buf)})
		total += len(p.Buf)
	}
	if total == 0 {
		return taken, nil
	}
	n, err := m.readv(local, remote)
	// EFAULT: not even the first byte of the first piece is mapped.
	if err != nil && !errors.Is(err, unix.EFAULT) {
		return 0, err
	}
	n = max(n, 0)
	for _, p := range pieces[:taken] {
		if n < len(p.Buf) {
			return read, unix.EFAULT
		}
		n -= len(p.Buf)
		read++
	}
	return read, nil
}
