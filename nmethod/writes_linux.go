package nmethod

import (
	"os"

	"golang.org/x/sys/unix"
)

// writes tells of the next write to a file. While a file is written all the time,
// nobody watches it: each write would cost its writer something.
type writes struct {
	path    string
	fd      int      // of inotify
	inotify *os.File // the same; nil where the machine's watches are all in use
	written chan struct{}
}

func watchWrites(path string) *writes {
	w := &writes{path: path, written: make(chan struct{}, 1)}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return w
	}
	w.fd, w.inotify = fd, os.NewFile(uintptr(fd), "inotify")
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := w.inotify.Read(buf); err != nil {
				return
			}
			select {
			case w.written <- struct{}{}:
			default:
			}
		}
	}()
	return w
}

// arm asks for one word of the next write, through written. It is false where
// that can't be had.
func (w *writes) arm() bool {
	if w.inotify == nil {
		return false
	}
	select {
	case <-w.written: // of an earlier one
	default:
	}
	_, err := unix.InotifyAddWatch(w.fd, w.path, unix.IN_MODIFY|unix.IN_ONESHOT)
	return err == nil
}

func (w *writes) close() {
	if w.inotify != nil {
		w.inotify.Close() // which ends the reading
	}
}
