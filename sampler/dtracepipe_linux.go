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
