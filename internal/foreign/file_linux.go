package foreign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// A File is an open regular file in a [World]. The process may go on writing to it.
type File struct {
	w    *World
	fd   int
	path string // as the process sees it; for messages
	info Info   // at the time of opening
	at   int64  // offset of the next Read
}

// Open opens a file in the folder for reading. It must be a regular file with a single hard link, as a JVM creates it.
// A file with several links could be somebody else's file that was linked into the folder.
func (d *Folder) Open(name string) (*File, error) { return d.open(name, unix.O_RDONLY) }

// OpenToWrite does the same as Open, but opens the file for reading and writing.
func (d *Folder) OpenToWrite(name string) (*File, error) {
	if err := d.w.mayWrite(); err != nil {
		return nil, err
	}
	return d.open(name, unix.O_RDWR)
}

func (d *Folder) open(name string, flags int) (*File, error) {
	shown, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	return d.w.newFile(d.fd, name, shown, flags, noMounts)
}

// Open opens a regular file for reading. The path must not contain symbolic links, but it may cross mount points, and
// the file may have several hard links. Open is used for files of a JDK, for example.
func (w *World) Open(shown string) (*File, error) {
	return w.newFile(w.root, strings.TrimPrefix(path.Clean(shown), "/"), shown, unix.O_RDONLY, noLinks)
}

func (w *World) newFile(at int, name, shown string, flags int, resolve uint64) (*File, error) {
	return call(w, func() (*File, error) {
		// Opening a device can have side effects, and a user in a container can create a device node. Opening with
		// O_PATH has no side effects, so that comes first.
		found, err := openAt(at, name, shown, unix.O_PATH|unix.O_NOFOLLOW, 0, resolve)
		if err != nil {
			return nil, err
		}
		defer unix.Close(found)
		info, err := regularFile(found, resolve == noMounts)
		fd := -1
		if err == nil {
			fd, err = reopen(found, flags)
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: shown, Err: err}
		}
		return &File{w: w, fd: fd, path: shown, info: info}, nil
	}, func(f *File) { unix.Close(f.fd) })
}

// reopen opens the file of a descriptor that was opened with O_PATH. The kernel checks the calling thread's rights
// again, but does not look up the file's path again. With O_NONBLOCK the call does not wait for another process's lease
// on the file.
func reopen(found, flags int) (fd int, err error) {
	path := fmt.Sprintf("/proc/self/fd/%d", found)
	for {
		fd, err = unix.Open(path, flags|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// regularFile returns the Info of an open file. It returns an error if the file is not regular, or if single is true
// and the file has several hard links.
func regularFile(fd int, single bool) (Info, error) {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return Info{}, err
	}
	switch {
	case s.Mode&unix.S_IFMT == unix.S_IFLNK: // with O_PATH and O_NOFOLLOW, the kernel opens the link itself
		return Info{}, errLink
	case s.Mode&unix.S_IFMT != unix.S_IFREG:
		return Info{}, errors.New("it is not a regular file, as a JVM makes them")
	case single && s.Nlink > 1:
		return Info{}, errors.New("it has several links, and may be anybody's")
	}
	return infoOf(&s), nil
}

// Close closes the file.
func (f *File) Close() error {
	f.w.closeDescriptor(f.fd)
	return nil
}

// Path returns the path of the file, as the process sees it.
func (f *File) Path() string { return f.path }

// Size returns the size of the file in bytes, at the time of opening.
func (f *File) Size() int64 { return f.info.Size }

// Info returns the file's Info at the time of opening.
func (f *File) Info() Info { return f.info }

// chunk is the maximum number of bytes that one call on the World's thread reads or writes.
const chunk = 1 << 20

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		part := min(len(p)-n, chunk)
		read, err := call(f.w, func() ([]byte, error) {
			buf := make([]byte, part)
			got, err := unix.Pread(f.fd, buf, offset+int64(n))
			return buf[:max(got, 0)], err
		}, nil)
		if err != nil {
			return n, f.failed("read", err)
		}
		if len(read) == 0 {
			return n, io.EOF
		}
		n += copy(p[n:], read)
	}
	return n, nil
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p[:min(len(p), chunk)], f.at)
	f.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		part := append([]byte(nil), p[n:min(n+chunk, len(p))]...)
		wrote, err := call(f.w, func() (int, error) { return unix.Pwrite(f.fd, part, offset+int64(n)) }, nil)
		if err != nil {
			return n, f.failed("write", err)
		}
		n += wrote
	}
	return n, nil
}

func (f *File) failed(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.path, Err: err}
}

// A TooLargeError means that a file is larger than the limit that the caller has set. The sizes are in bytes.
type TooLargeError struct {
	Path        string
	Size, Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the %d that such a file may have", e.Path, e.Size, e.Limit)
}

// ReadAll returns the content of a file. If the file has more than limit bytes, the error is a *TooLargeError.
func (f *File) ReadAll(limit int64) ([]byte, error) {
	if f.Size() > limit {
		return nil, &TooLargeError{f.path, f.Size(), limit}
	}
	return io.ReadAll(io.NewSectionReader(f, 0, limit))
}

// CopyTo copies the file to another file, which must be empty. If the file has more than limit bytes, the error is a
// *TooLargeError. Holes in the file become holes in the copy, so that the copy of a sparse file takes little space on
// disk, too.
func (f *File) CopyTo(to *os.File, limit int64) error {
	now, err := call(f.w, func() (Info, error) { return regularFile(f.fd, false) }, nil)
	if err != nil {
		return f.failed("stat", err)
	}
	size := now.Size
	if size > limit {
		return &TooLargeError{f.path, size, limit}
	}
	for at := int64(0); at < size; {
		from, end, err := f.data(at, size)
		if err != nil {
			return f.failed("read", err)
		}
		if from < end {
			if _, err := io.Copy(io.NewOffsetWriter(to, from), io.NewSectionReader(f, from, end-from)); err != nil {
				return err
			}
		}
		at = end
	}
	return to.Truncate(size)
}

// data finds the first piece of the file that is not a hole, searching from a given offset. The piece is [from, end).
// size is the size of the file. If only a hole is left, the piece is empty.
func (f *File) data(at, size int64) (from, end int64, err error) {
	piece, err := call(f.w, func() ([2]int64, error) {
		from, err := unix.Seek(f.fd, at, unix.SEEK_DATA)
		switch {
		case errors.Is(err, unix.ENXIO): // the rest is a hole
			return [2]int64{size, size}, nil
		case err != nil: // the file system does not support holes
			return [2]int64{at, size}, nil
		}
		from = max(from, at) // a file system in user space may return any offset
		end, err := unix.Seek(f.fd, from, unix.SEEK_HOLE)
		if err != nil || end <= from {
			end = size
		}
		return [2]int64{from, min(end, size)}, nil
	}, nil)
	return min(piece[0], size), piece[1], err
}

// Release converts f to an ordinary *os.File; f must not be used after that. Reads are then made by the thread that
// calls Read, not by the World's thread, and have no time limit. So Release returns an error that wraps [ErrUserSpace]
// if the file is in a file system that may never answer, unless gasm trusts the World's process. The Process of the
// World must not be closed yet.
func (f *File) Release() (*os.File, error) {
	if !f.w.trusted {
		if err := mountsOf(f.w.process).checkFile(f.fd); err != nil {
			f.Close()
			return nil, f.failed("open", err)
		}
	}
	released := os.NewFile(uintptr(f.fd), f.path)
	f.fd = -1
	return released, nil
}
