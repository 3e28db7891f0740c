package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openChecked opens a path for reading if check(info) returns nil for the file. Opening a device, or a file in one of
// the kernel's own file systems (tracefs), can have side effects. Opening a path with O_PATH has no side effects, so
// openChecked does that first, and checks the file. Then it opens the checked file for reading, even if the path leads
// to another file by now.
func openChecked(path string, links links, check func(fs.FileInfo) error) (*os.File, error) {
	at, err := openPath(path, links)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	info, err := at.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(info); err != nil {
		return nil, err
	}
	if system := kernelSystem(at); system != "" {
		return nil, ofKernel(path, system)
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", at.Fd()), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) && links != refuseAll { // /proc is not mounted
		f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|links.flags(), 0)
		if err == nil && kernelSystem(f) != "" {
			defer f.Close()
			return nil, ofKernel(path, kernelSystem(f))
		}
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path
	}
	return f, err
}

// openPath opens a path with O_PATH.
func openPath(path string, links links) (*os.File, error) {
	if links != refuseAll {
		return os.OpenFile(path, unix.O_PATH|links.flags(), 0)
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	for errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
		fd, err = unix.Openat2(unix.AT_FDCWD, path, &how)
	}
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, &Error{path, "reached through a link"}
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
