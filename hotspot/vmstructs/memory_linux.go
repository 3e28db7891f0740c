package vmstructs

import (
	"io"

	"golang.org/x/sys/unix"
)

// processMemory reads the memory of the process with this id. Offsets are addresses.
type processMemory int

func (pid processMemory) ReadAt(buf []byte, addr int64) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: len(buf)}}
	n, err := unix.ProcessVMReadv(int(pid), local, remote, 0)
	if err == nil && n < len(buf) {
		err = io.ErrUnexpectedEOF // a part of it is not mapped
	}
	return max(n, 0), err
}
