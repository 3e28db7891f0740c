package record

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// The command gets the descriptors that gasm was started with, as those of `gasm profile -- make` below `make -j`, or of
// `exec 3>log; gasm profile -- command`. The holder needs three numbers of its own, which must be none of these.

// inherited gives the descriptors from 3 on that a child gets, up to the first three numbers that are free: these are
// behind them. An element is nil where a number is free, or gasm's own.
func inherited() (files []*os.File) {
	for fd := firstInherited; ; fd++ {
		if !isInherited(fd) && !isInherited(fd+1) && !isInherited(fd+2) {
			return files
		}
		files = append(files, inheritedFile(fd))
	}
}

const firstInherited = 3

// isInherited tells whether a descriptor is open, and is not closed by an exec. All that gasm opens is.
func isInherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// kept holds the files of inherited, because a file that is collected is closed.
var kept struct {
	sync.Mutex
	files map[int]*os.File
}

func inheritedFile(fd int) *os.File {
	if !isInherited(fd) {
		return nil
	}
	kept.Lock()
	defer kept.Unlock()
	if kept.files == nil {
		kept.files = map[int]*os.File{}
	}
	if kept.files[fd] == nil {
		kept.files[fd] = os.NewFile(uintptr(fd), "inherited")
	}
	return kept.files[fd]
}

// highestInherited is the highest descriptor that a child gets, of the first thousand; 2 for none from 3 on.
func highestInherited() int {
	for fd := 1023; fd >= firstInherited; fd-- {
		if isInherited(fd) {
			return fd
		}
	}
	return firstInherited - 1
}

// clearOf gives the ends of pipes with other descriptors, where Go's fork would write over one that the command is to get: it
// moves its own pipe, and what has a lower number than it is to get, behind the highest number that it passes on
// (forkAndExecInChild1: nextfd). So none of these must be moved, and the highest must be behind all. The caller closes the copies.
func clearOf(highest, first int, ends []*os.File) (files, copies []*os.File, err error) {
	for i, f := range ends {
		least := first + i
		if i == 0 {
			least = max(least, highest+1)
		}
		if f != nil && int(f.Fd()) < least {
			fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, least)
			if err != nil {
				return nil, copies, os.NewSyscallError("fcntl", err)
			}
			f = os.NewFile(uintptr(fd), f.Name())
			copies = append(copies, f)
		}
		files = append(files, f)
	}
	return files, copies, nil
}
