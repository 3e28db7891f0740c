// Package regular opens regular files, and only these.
//
// A capture comes from somebody else, and so do the paths in it. Opening a pipe blocks until the pipe has a writer,
// opening some devices has side effects, and /dev/zero has no end. So the kind of a file is checked before it is
// opened, and again once it is open, because it may have been replaced in between.
package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// An Error means that a path does not lead to a regular file.
type Error struct {
	Path string
	Kind string // what the path leads to: "a folder", "a pipe"
}

func (e *Error) Error() string {
	if e.Kind == folder {
		return e.Path + " is a folder, not a file"
	}
	return e.Path + " is " + e.Kind + ", and gasm reads regular files only: save its content to a file"
}

const folder = "a folder"

// links says which symbolic links in a path are an error.
type links int

const (
	follow     links = iota
	refuseLast       // the last element of the path must not be a link
	refuseAll        // no element of the path may be a link
)

// flags returns the flags for open(2).
func (l links) flags() int {
	if l == follow {
		return 0
	}
	return syscall.O_NOFOLLOW
}

// Open opens a regular file, or a link to one, for reading, and returns its size. It never blocks. If the path leads to
// something else, the error is an *Error.
func Open(path string) (f *os.File, size int64, err error) { return open(path, follow) }

// OpenNoLink is like Open, but a link is an error. It is meant for folders to which others can write, because a link
// there may lead to a file that only this user can read.
func OpenNoLink(path string) (f *os.File, size int64, err error) { return open(path, refuseLast) }

// OpenWithoutLinks is like Open, but it is an error if any element of the path is a link. It is meant for paths that
// somebody else has chosen, or that lead through folders to which others can write. On Linux it needs version 5.6 or
// newer.
func OpenWithoutLinks(path string) (f *os.File, size int64, err error) { return open(path, refuseAll) }

func open(path string, links links) (f *os.File, size int64, err error) {
	if links != refuseAll { // for refuseAll, openChecked checks the file, because stat would follow links
		stat := os.Lstat
		if links == follow {
			stat = os.Stat
		}
		info, err := stat(path)
		if err == nil {
			err = check(path, info)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	f, err = openChecked(path, links, func(info fs.FileInfo) error { return check(path, info) })
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ofKernel returns the error for a file in one of the kernel's file systems.
func ofKernel(path, system string) error {
	return &Error{path, "a file of the kernel's (" + system + ")"}
}

// ReadFile returns the content of a regular file. A file of more than limit bytes is an error.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that such a file may have", path, size, limit)
	}
	return io.ReadAll(io.LimitReader(f, size))
}

// check returns an error that names the kind of file (pipe, device, directory), or nil for a regular file.
func check(path string, info fs.FileInfo) error {
	kinds := []struct {
		is   fs.FileMode
		kind string
	}{{fs.ModeDir, folder}, {fs.ModeNamedPipe, "a pipe"}, {fs.ModeSocket, "a socket"}, {fs.ModeDevice, "a device"},
		{fs.ModeSymlink, "a link"}}
	for _, k := range kinds {
		if info.Mode()&k.is != 0 {
			return &Error{path, k.kind}
		}
	}
	if !info.Mode().IsRegular() {
		return &Error{path, "something special"}
	}
	return nil
}
