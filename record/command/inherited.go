package command

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// The command gets the descriptors that gasm was started with, for example those of `gasm profile -- make` below `make
// -j`, or of `exec 3>log; gasm profile -- command`. The holder needs three numbers of its own, which must differ from
// these.

// inherited returns the descriptors from 3 on that a child process gets, up to the first three successive numbers that
// are free. The holder's three numbers follow them. An element is nil where a number is free, or belongs to gasm alone.
func inherited() (files []*os.File) {
	for fd := firstInherited; ; fd++ {
		if !isInherited(fd) && !isInherited(fd+1) && !isInherited(fd+2) {
			return files
		}
		files = append(files, inheritedFile(fd))
	}
}

const firstInherited = 3

// isInherited reports whether a descriptor is open, and stays open at an exec. Descriptors that gasm opens are closed
// then.
func isInherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// kept holds the files of inherited, because the garbage collector closes a file that nothing refers to.
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

// highestInherited returns the highest of the first thousand descriptors that a child process gets; 2 when it gets none
// from 3 on.
func highestInherited() int {
	for fd := 1023; fd >= firstInherited; fd-- {
		if isInherited(fd) {
			return fd
		}
	}
	return firstInherited - 1
}

// clearOf returns the ends of pipes, some of them duplicated with higher numbers, so that Go's fork
// overwrites no descriptor that the command is to get. The fork moves its own pipe, and each file whose
// number is lower than the number that the child is to have, to numbers after the highest one that it
// passes on (nextfd in syscall's forkAndExecInChild1). So each end needs a number from which it is not
// moved, and the first end a number after those of all inherited descriptors. The caller closes the
// copies.
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
