package perfevent

import (
	"encoding/binary"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A waiter waits until something happens at one of several file descriptors.
//
// It has an epoll of its own. Go's runtime waits for this epoll with the runtime's own epoll, as it does for a socket.
// A goroutine that waits in a system call instead would cost more: Go's runtime watches such a goroutine, and wakes up
// about a dozen times after each pause. With a millisecond of work between the pauses, these wake-ups take about as
// long as the work.
type waiter struct {
	epoll int
	file  *os.File // the same epoll, as a file that Go's runtime can wait for
	conn  syscall.RawConn

	mu   sync.Mutex // an interrupt may come while the waiter is being closed
	stop int        // an eventfd; interrupt writes to it to end wait; -1 after close
}

func newWaiter() (w *waiter, err error) {
	w = &waiter{stop: -1}
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	err = unix.SetNonblock(w.epoll, true) // otherwise os.NewFile assumes that Go can't wait for it
	w.file = os.NewFile(uintptr(w.epoll), "epoll")
	if err == nil {
		w.conn, err = w.file.SyscallConn()
	}
	if err == nil {
		err = w.file.SetReadDeadline(time.Time{})
	}
	if err == nil {
		w.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = w.watch(w.stop)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// watch adds a descriptor to those that the method wait watches. It asks for edge-triggered events, so an event ends
// only one call of wait.
func (w *waiter) watch(fd int) error {
	return unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET,
		Fd: int32(fd)})
}

// wait waits until something happens at a descriptor, the time d has passed, or interrupt is called.
func (w *waiter) wait(d time.Duration) {
	_ = w.file.SetReadDeadline(time.Now().Add(d)) // it can't fail, because it worked in newWaiter
	_ = w.conn.Read(func(uintptr) bool {
		var events [8]unix.EpollEvent
		n, _ := unix.EpollWait(w.epoll, events[:], 0)
		return n != 0 // if false, Go waits until the epoll is readable and calls this again
	})
}

// interrupt ends the current wait. If nobody is waiting, it ends the next wait at once. After close it does nothing.
func (w *waiter) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop < 0 {
		return
	}
	one := binary.NativeEndian.AppendUint64(nil, 1)
	_, _ = unix.Write(w.stop, one)
}

func (w *waiter) close() {
	w.file.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop >= 0 {
		unix.Close(w.stop)
		w.stop = -1 // another file may get this number
	}
}
