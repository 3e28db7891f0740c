package foreign

import "golang.org/x/sys/unix"

// Exited is Ended for frequent calls: it asks the kernel only about the pidfd, if there is one. It is called after
// reading memory by the process's id: until the process has ended, no other process has its id.
func (p *Process) Exited() bool {
	if p.pidfd < 0 {
		return p.Ended()
	}
	fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
