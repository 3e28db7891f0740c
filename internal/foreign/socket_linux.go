package foreign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotSocket means that a name belongs to something other than a socket of the process's user. Errors of HasSocket
// and Dial wrap it.
var ErrNotSocket = errors.New("it is not a socket of the process's user")

// HasSocket reports whether the folder has a socket of this name. Anyone can create a file in /tmp, so if the name
// belongs to something else or to another user's socket, the error wraps [ErrNotSocket].
func (d *Folder) HasSocket(name string) (bool, error) {
	err := d.w.do(func() error {
		fd, err := d.openSocket(name)
		if err == nil {
			unix.Close(fd)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// openSocket opens a socket with O_PATH, which does not connect to it. It returns an error if the name does not belong
// to a socket of the process's user.
func (d *Folder) openSocket(name string) (int, error) {
	shown, err := d.inside(name)
	if err != nil {
		return -1, err
	}
	fd, err := openAt(d.fd, name, shown, unix.O_PATH|unix.O_NOFOLLOW, 0, noMounts)
	if err != nil {
		return -1, err
	}
	var s unix.Stat_t
	if err = unix.Fstat(fd, &s); err == nil && (s.Mode&unix.S_IFMT != unix.S_IFSOCK || int(s.Uid) != d.w.user.UID) {
		err = ErrNotSocket
	}
	if err != nil {
		unix.Close(fd)
		return -1, &fs.PathError{Op: "open", Path: shown, Err: err}
	}
	return fd, nil
}

// While a socket's queue is full, Dial pauses between two attempts to connect. The pauses grow from the shortest to the
// longest.
const shortestPause, longestPause = time.Millisecond, 50 * time.Millisecond

// Dial connects to a socket in the folder. It returns an error unless the process that listens there is the one whose
// files the World shows. While the socket's queue of connections is full, Dial tries again and again, until ctx is
// done.
func (d *Folder) Dial(ctx context.Context, name string) (net.Conn, error) {
	ctx, cancel := d.w.in(ctx)
	defer cancel()
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		fd, err := call(d.w, func() (int, error) { return d.connect(name) }, closeLate)
		if errors.Is(err, unix.EAGAIN) {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(pause):
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		return net.FileConn(f)
	}
}

// connect connects to a socket and returns the descriptor of the connection. It connects through the descriptor that it
// has checked and does not look up the path again, so nobody can replace the socket in between.
func (d *Folder) connect(name string) (int, error) {
	to, err := d.openSocket(name)
	if err != nil {
		return -1, err
	}
	defer unix.Close(to)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	address := &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d", to)}
	if err = d.w.user.speaking(func() error { return unix.Connect(fd, address) }); err == nil {
		err = d.w.checkPeer(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// checkPeer returns an error unless the World's process listens at the other end of a connection. The kernel has
// recorded which process called listen(2) there.
func (w *World) checkPeer(fd int) error {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if int(peer.Pid) != w.pid {
		return fmt.Errorf("process %d listens there, not the process itself", peer.Pid)
	}
	return nil
}
