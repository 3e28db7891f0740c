package foreign

import "golang.org/x/sys/unix"

// Exited is like Ended, but faster: if there is a pidfd, Exited only polls it. A caller that reads memory by process id
// calls Exited after each read. If Exited returns false, the id belonged to this process during the whole read.
func (p *Process) Exited() bool {
	if p.pidfd < 0 {
		return p.Ended()
	}
	fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
