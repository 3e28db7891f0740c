package threaddump

import (
	"fmt"
	"maps"

	"golang.org/x/sys/unix"
)

// A callKind has the name of a system call, and says what its arguments show about what it waits for.
type callKind struct {
	name string
	on   argument
}

type argument uint8

const (
	nothing    argument = iota
	descriptor          // the first argument is a file descriptor
	polled              // the first two arguments are an array of struct pollfd and its length
	epolled             // the first argument is the descriptor of an epoll instance
	futex               // the fourth argument is a timeout
	deadline            // the call waits for a limited time
)

// calls are the system calls in which threads of JVMs wait, by their numbers.
var calls = func() map[int]callKind {
	all := map[int]callKind{
		unix.SYS_FUTEX: {"futex", futex}, unix.SYS_NANOSLEEP: {"nanosleep",
			deadline}, unix.SYS_CLOCK_NANOSLEEP: {"clock_nanosleep", deadline},
		unix.SYS_READ: {"read", descriptor}, unix.SYS_WRITE: {"write", descriptor}, unix.SYS_READV: {"readv", descriptor},
		unix.SYS_WRITEV:  {"writev", descriptor},
		unix.SYS_PREAD64: {"pread64", descriptor}, unix.SYS_PWRITE64: {"pwrite64", descriptor},
		unix.SYS_PREADV: {"preadv", descriptor}, unix.SYS_PWRITEV: {"pwritev", descriptor},
		unix.SYS_RECVFROM: {"recvfrom", descriptor}, unix.SYS_RECVMSG: {"recvmsg", descriptor},
		unix.SYS_RECVMMSG: {"recvmmsg", descriptor},
		unix.SYS_SENDTO:   {"sendto", descriptor}, unix.SYS_SENDMSG: {"sendmsg", descriptor},
		unix.SYS_SENDFILE: {"sendfile", descriptor},
		unix.SYS_ACCEPT:   {"accept", descriptor}, unix.SYS_ACCEPT4: {"accept4", descriptor},
		unix.SYS_CONNECT: {"connect", descriptor},
		unix.SYS_FSYNC:   {"fsync", descriptor}, unix.SYS_FDATASYNC: {"fdatasync", descriptor},
		unix.SYS_FLOCK: {"flock", descriptor}, unix.SYS_FCNTL: {"fcntl", descriptor},
		unix.SYS_FALLOCATE: {"fallocate", descriptor}, unix.SYS_FTRUNCATE: {"ftruncate", descriptor},
		unix.SYS_CLOSE: {"close", descriptor},
		unix.SYS_IOCTL: {"ioctl", descriptor}, unix.SYS_PPOLL: {"ppoll", polled}, unix.SYS_PSELECT6: {"pselect6", nothing},
		unix.SYS_EPOLL_PWAIT: {"epoll_pwait", epolled},
		unix.SYS_OPENAT:      {"openat", nothing}, unix.SYS_UNLINKAT: {"unlinkat", nothing},
		unix.SYS_RENAMEAT2: {"renameat2", nothing}, unix.SYS_STATX: {"statx", nothing},
		unix.SYS_WAIT4: {"wait4", nothing}, unix.SYS_WAITID: {"waitid", nothing},
		unix.SYS_IO_URING_ENTER: {"io_uring_enter", nothing}, unix.SYS_IO_GETEVENTS: {"io_getevents", nothing},
		unix.SYS_RT_SIGTIMEDWAIT: {"rt_sigtimedwait", nothing}, unix.SYS_RT_SIGSUSPEND: {"rt_sigsuspend", nothing},
		unix.SYS_SCHED_YIELD: {"sched_yield", nothing},
		unix.SYS_MMAP:        {"mmap", nothing}, unix.SYS_MUNMAP: {"munmap", nothing},
		unix.SYS_MPROTECT: {"mprotect", nothing},
		unix.SYS_MADVISE:  {"madvise", nothing},
		unix.SYS_MREMAP:   {"mremap", nothing}, unix.SYS_BRK: {"brk", nothing}, unix.SYS_MSYNC: {"msync", nothing},
		unix.SYS_MEMBARRIER: {"membarrier", nothing},
		unix.SYS_CLONE:      {"clone", nothing}, unix.SYS_EXECVE: {"execve", nothing}, unix.SYS_EXIT: {"exit", nothing},
		unix.SYS_EXIT_GROUP:      {"exit_group", nothing},
		unix.SYS_RESTART_SYSCALL: {"restart_syscall", nothing}, unix.SYS_CLOCK_GETTIME: {"clock_gettime", nothing},
	}
	maps.Copy(all, moreCalls)
	return all
}()

// describe returns the name of the system call that a thread is in, and what the call waits for.
func (d *descriptors) describe(c *call) (name, on string) {
	if c.number < 0 {
		return "", ""
	}
	kind, ok := calls[c.number]
	if !ok {
		return fmt.Sprintf("system call %d", c.number), ""
	}
	switch kind.on {
	case descriptor:
		return kind.name, d.file(c.args[0])
	case epolled:
		return kind.name, fmt.Sprintf("descriptor %d", int32(c.args[0]))
	case polled:
		return kind.name, d.polled(c.args[0], c.args[1])
	case futex:
		if c.args[3] != 0 {
			return kind.name, "for a limited time"
		}
	case deadline:
		return kind.name, "for a limited time"
	}
	return kind.name, ""
}
