//go:build !linux

package regular

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openChecked opens a path for reading. With refuseAll it first checks the file. Otherwise its caller has already
// checked the file. If the file has been replaced by a pipe in the meantime, openChecked does not block.
func openChecked(path string, links links, check func(fs.FileInfo) error) (*os.File, error) {
	if links == refuseAll {
		if real, err := filepath.EvalSymlinks(path); err != nil || real != filepath.Clean(path) {
			return nil, cmp.Or[error](err, &Error{path, "reached through a link"})
		}
		if info, err := os.Lstat(path); err != nil || check(info) != nil {
			return nil, cmp.Or(err, check(info))
		}
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|links.flags(), 0)
}
