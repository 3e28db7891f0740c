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
// It has an epoll of its own, and Go's epoll waits for that as for a socket. If a goroutine waited in a
// system call instead, Go's runtime would watch it, and wake up some dozen times after each pause. With
// a millisecond of work between the pauses, that takes about as long again.
type waiter struct {
	epoll int
	file  *os.File // the epoll
	conn  syscall.RawConn

	mu   sync.Mutex // because an interrupt may come while the waiter is closed
	stop int        // an eventfd; interrupt writes to it to end wait; -1 when it is closed
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

// watch adds a descriptor to those that wait waits for. It is edge-triggered: each event ends one wait.
func (w *waiter) watch(fd int) error {
	return unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)})
}

// wait waits until something happens, or the time d is over, or interrupt is called.
func (w *waiter) wait(d time.Duration) {
	_ = w.file.SetReadDeadline(time.Now().Add(d)) // it worked in newWaiter
	_ = w.conn.Read(func(uintptr) bool {
		var events [8]unix.EpollEvent
		n, _ := unix.EpollWait(w.epoll, events[:], 0)
		return n != 0 // what happens next ends the next wait
	})
}

// interrupt ends the current wait, or the next one if there is none. After close it does nothing.
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
