package threaddump

import "golang.org/x/sys/unix"

// moreCalls are system calls that aarch64 does not have.
var moreCalls = map[int]callKind{
	unix.SYS_POLL: {"poll", polled}, unix.SYS_EPOLL_WAIT: {"epoll_wait", epolled}, unix.SYS_SELECT: {"select",
		nothing}, unix.SYS_PAUSE: {"pause", nothing},
	unix.SYS_OPEN: {"open", nothing}, unix.SYS_STAT: {"stat", nothing}, unix.SYS_UNLINK: {"unlink", nothing},
	unix.SYS_RENAME: {"rename", nothing},
}
