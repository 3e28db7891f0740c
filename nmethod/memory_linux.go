package nmethod

import (
	"io"

	"golang.org/x/sys/unix"
)

// process is a process's memory; offsets are addresses.
type process int

func (p process) ReadAt(buf []byte, addr int64) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	n, err := unix.ProcessVMReadv(int(p), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(buf)}}, 0)
	if err == nil && n < len(buf) {
		err = io.ErrUnexpectedEOF
	}
	return max(n, 0), err
}
