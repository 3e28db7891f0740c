package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openChecked opens what check accepts. To open a device does something, so the path is first opened by O_PATH, which
// does nothing, and what that leads to is checked and then opened, whatever is at the path by then.
func openChecked(path string, flags int, check func(fs.FileInfo) error) (*os.File, error) {
	at, err := os.OpenFile(path, unix.O_PATH|flags, 0)
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
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", at.Fd()), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) { // without /proc
		f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path
	}
	return f, err
}
