package dtrace

import (
	"os"

	"golang.org/x/sys/unix"
)

// narrowPipe makes a pipe as small as the kernel allows, so that a DTrace with much to print has to wait until gasm
// reads from the pipe. It returns false if the pipe remains large.
func narrowPipe(pipe *os.File) bool {
	size, err := unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, pipeSize)
	return err == nil && size <= 4*pipeSize
}

// widenPipe makes a pipe large again. It does not use File.Fd, which would put the pipe into blocking mode. In that
// mode a read can't have a deadline.
func widenPipe(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	// If the pipe stays small, nothing is lost, because it is read without pauses from now on.
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
}
