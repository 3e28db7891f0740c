package command

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// The command gets the descriptors with which gasm was started, such as those that `make -j` passes to a recipe `gasm
// profile -- make`, or descriptor 3 of `exec 3>log; gasm profile -- command`. The holder needs three descriptors of its
// own, with other numbers.

// inherited returns the descriptors from 3 on that a child process gets. It stops at the first three successive free
// numbers, because the holder uses these for its own descriptors. An element is nil if its number is free, or if the
// child does not get the descriptor.
func inherited() (files []*os.File) {
	for fd := firstInherited; ; fd++ {
		if !isInherited(fd) && !isInherited(fd+1) && !isInherited(fd+2) {
			return files
		}
		files = append(files, inheritedFile(fd))
	}
}

const firstInherited = 3

// isInherited reports whether a descriptor is open and stays open at an exec. Descriptors that gasm itself has opened
// do not stay open.
func isInherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// kept holds the files that inherited has returned. Otherwise the garbage collector would close them.
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

// highestInherited returns the highest descriptor below 1024 that a child process gets. It returns 2 if there is none
// from 3 on.
func highestInherited() int {
	for fd := 1023; fd >= firstInherited; fd-- {
		if isInherited(fd) {
			return fd
		}
	}
	return firstInherited - 1
}

// clearOf makes sure that Go's fork overwrites no descriptor that the command should get. In the child, the files in
// ends get the numbers first, first+1 and so on. Before that, the fork moves its own pipe, and each file whose number
// in gasm is lower than its number in the child. It moves them to the numbers after the highest descriptor among its
// arguments (nextfd in syscall's forkAndExecInChild1), which the command may have inherited.
//
// To prevent that, clearOf duplicates each file in ends whose number is lower than its number in the child, so that
// the fork does not move it. The first file also gets a number above the highest inherited descriptor, so that the
// fork moves its pipe beyond all inherited descriptors. clearOf returns all files to use, and separately the copies
// among them, which the caller must close.
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
