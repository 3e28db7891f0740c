package record

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until the process that started at a time has ended, or stop is closed. It
// is true in the first case. To wait costs nothing where the kernel has pidfd_open (5.3).
func awaitEnd(pid int, ticks uint64, stop <-chan struct{}) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true) // so that Go's poller waits, and no thread
	}
	if hasEnded(pid, ticks) { // else the descriptor is of that process
		return true
	}
	if err != nil {
		return lookForEnd(pid, ticks, stop)
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	defer process.Close()
	ended := make(chan bool, 1)
	go func() { ended <- awaitReadable(process) }()
	select {
	case <-stop:
		return false
	case ok := <-ended:
		return ok || lookForEnd(pid, ticks, stop)
	}
}

// awaitReadable waits until a descriptor can be read, and is false when that can't be waited for.
// A pidfd can be read when its process has ended. Closing it ends the waiting.
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

// lookPause is for kernels without pidfd_open.
const lookPause = 500 * time.Millisecond

// lookForEnd looks at the process now and then.
func lookForEnd(pid int, ticks uint64, stop <-chan struct{}) bool {
	look := time.NewTicker(lookPause)
	defer look.Stop()
	for !hasEnded(pid, ticks) {
		select {
		case <-stop:
			return false
		case <-look.C:
		}
	}
	return true
}
