package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A fileWatch tells of new files in a folder.
type fileWatch struct {
	created chan struct{} // holds one at most, for all files since it was read
	close   func()
}

// pollInterval is for a machine whose inotify watches are all in use. The start
// of a JVM takes 50 ms and more.
const pollInterval = 20 * time.Millisecond

// watchFiles begins to watch a folder. The caller calls close.
func watchFiles(dir string) fileWatch {
	w := fileWatch{created: make(chan struct{}, 1)}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err == nil {
		if _, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		tick, done := time.NewTicker(pollInterval), make(chan struct{})
		w.close = func() { tick.Stop(); close(done) }
		go func() {
			for {
				select {
				case <-tick.C:
					w.tell()
				case <-done:
					return
				}
			}
		}()
		return w
	}
	events := os.NewFile(uintptr(fd), "inotify")
	w.close = func() { events.Close() } // which ends the reading
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := events.Read(buf); err != nil {
				return
			}
			w.tell()
		}
	}()
	return w
}

func (w *fileWatch) tell() {
	select {
	case w.created <- struct{}{}:
	default:
	}
}
