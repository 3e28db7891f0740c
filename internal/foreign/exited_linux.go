package foreign

import "golang.org/x/sys/unix"

// Exited is a faster Ended for frequent calls: it only polls the pidfd, if there is one. A caller that has read memory
// by the process's id calls it afterwards: if Exited returns false, no other process can have had the id during the
// read.
func (p *Process) Exited() bool {
	if p.pidfd < 0 {
		return p.Ended()
	}
	fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
