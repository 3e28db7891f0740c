package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openChecked opens a path if check accepts the file. Opening a device can have effects, so the path is first opened
// with O_PATH, which has none. The result is checked and then opened for reading, even if the path leads elsewhere by
// then.
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
	if errors.Is(err, fs.ErrNotExist) { // /proc is not mounted
		f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path
	}
	return f, err
}
