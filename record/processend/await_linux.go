package processend

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Await waits until a process has ended, and then returns true. If stop is closed first, it returns false. ticks is the
// time at which the process started (see [StartTicks]). While it waits, Await takes no CPU time, provided that the
// kernel has pidfd_open (Linux 5.3).
func Await(pid int, ticks uint64, stop <-chan struct{}) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		if err = unix.SetNonblock(fd, true); err != nil { // so that waiting blocks no thread
			unix.Close(fd)
		}
	}
	if HasEnded(pid, ticks) { // otherwise fd belongs to this process, not to a later one with the same id
		if err == nil {
			unix.Close(fd)
		}
		return true
	}
	if err != nil {
		return poll(pid, ticks, stop)
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	defer process.Close()
	ended := make(chan bool, 1)
	go func() { ended <- awaitReadable(process) }()
	select {
	case <-stop:
		return false
	case ok := <-ended:
		return ok || poll(pid, ticks, stop)
	}
}

// awaitReadable waits until a descriptor can be read, which for a pidfd means that its process has ended. It returns
// false if it can't wait for that, or if the descriptor is closed.
func awaitReadable(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	err = conn.Read(func(fd uintptr) (done bool) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 && err == nil
	})
	return err == nil
}

// pollPause is the time between two checks of a process on kernels without pidfd_open.
const pollPause = 500 * time.Millisecond

// poll does the same as Await, by checking the process from time to time.
func poll(pid int, ticks uint64, stop <-chan struct{}) bool {
	look := time.NewTicker(pollPause)
	defer look.Stop()
	for !HasEnded(pid, ticks) {
		select {
		case <-stop:
			return false
		case <-look.C:
		}
	}
	return true
}
