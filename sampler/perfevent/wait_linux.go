package perfevent

import (
	"encoding/binary"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A waiter waits for something to happen at descriptors.
//
// It has an epoll, for which Go's own epoll waits as for a socket. While a goroutine is in
// a system call that waits, Go's runtime watches it: after each pause it wakes up some
// dozen times, which with a millisecond of work in between takes about as long again.
type waiter struct {
	epoll int
	file  *os.File // of the epoll
	conn  syscall.RawConn

	mu   sync.Mutex // an interrupt may come while the waiter is closed
	stop int        // an eventfd, by which interrupt ends wait; -1 when it is closed
}

func newWaiter() (w *waiter, err error) {
	w = &waiter{stop: -1}
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	err = unix.SetNonblock(w.epoll, true) // else os.NewFile takes it for one that Go can't wait for
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

// watch has wait end when something happens at a descriptor, once each time.
func (w *waiter) watch(fd int) error {
	return unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)})
}

// wait waits until something happens, for a time, or until interrupt.
func (w *waiter) wait(d time.Duration) {
	_ = w.file.SetReadDeadline(time.Now().Add(d)) // newWaiter has tried it
	_ = w.conn.Read(func(uintptr) bool {
		var events [8]unix.EpollEvent
		n, _ := unix.EpollWait(w.epoll, events[:], 0)
		return n != 0 // what happens next is found when it is waited for
	})
}

// interrupt ends wait, also one that has not begun. After close it does nothing.
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
		w.stop = -1 // another file may get the number
	}
}
