package inotify

import (
	"os"

	"golang.org/x/sys/unix"
)

// An instance is an inotify instance with its watches.
type instance struct {
	fd     int
	events *os.File // the same descriptor
}

// openInstance opens an instance without watches. Until the instance is closed, a goroutine calls tell() when there are
// events.
func openInstance(tell func()) (*instance, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	i := &instance{fd, os.NewFile(uintptr(fd), "inotify")}
	go func() {
		buf := make([]byte, 4096) // the content of the events does not matter
		for {
			if _, err := i.events.Read(buf); err != nil {
				return // the instance was closed
			}
			tell()
		}
	}()
	return i, nil
}

func (i *instance) close() { i.events.Close() }

func (i *instance) addNewFiles(dir string) error { return i.add(dir, unix.IN_CREATE|unix.IN_MOVED_TO) }

func (i *instance) addOpens(file string) error { return i.add(file, unix.IN_OPEN) }

// addNextWrite adds a watch for the next write to a file. The watch ends with its first event.
func (i *instance) addNextWrite(file string) error {
	return i.add(file, unix.IN_MODIFY|unix.IN_ONESHOT)
}

func (i *instance) add(path string, events uint32) error {
	_, err := unix.InotifyAddWatch(i.fd, path, events)
	return os.NewSyscallError("inotify_add_watch", err)
}
