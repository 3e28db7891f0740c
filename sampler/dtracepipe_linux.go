package sampler

import (
	"os"

	"golang.org/x/sys/unix"
)

// narrowPipe makes a pipe as small as it goes, so that DTrace waits for us. It
// is false where that can't be had.
func narrowPipe(pipe *os.File) bool {
	size, err := unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, pipeSize)
	return err == nil && size <= 4*pipeSize
}

// widenPipe makes room in a pipe again. Its end for reading stays usable with
// deadlines.
func widenPipe(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	// What can't be had is no loss: the pipe is read without pauses now.
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
}
