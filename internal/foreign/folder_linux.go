package foreign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// A Folder is an open folder in a [World]. It stays the same one, whatever becomes of its name.
type Folder struct {
	w    *World
	fd   int
	path string // as the process has it; for messages
}

// Lookups never follow links, and never leave the folder that they begin in. Below /tmp they pass no mount either.
const (
	noLinks  = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	noMounts = noLinks | unix.RESOLVE_NO_XDEV
)

// lookups is how often a lookup is made that the kernel gives up because something was renamed meanwhile.
const lookups = 8

// openAt opens a file by a path relative to a folder. shown is the path for messages.
func openAt(folder int, name, shown string, flags int, mode uint32, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Mode: uint64(mode), Resolve: resolve}
	var fd int
	var err error
	for range lookups {
		fd, err = unix.Openat2(folder, name, &how)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return fd, nil
	case errors.Is(err, unix.ENOSYS):
		err = errors.New("the kernel has no openat2, which Linux has since 5.6, or a seccomp filter refuses it: nothing else is safe here")
	case errors.Is(err, unix.EXDEV):
		err = errors.New("it is a mount point, or leads out of where it should be, and gasm passes neither")
	case errors.Is(err, unix.ENOTDIR):
		err = errors.New("it is not a folder, and gasm follows no links")
	case errors.Is(err, unix.ELOOP):
		err = errors.New("it is a link, or is reached through one, and gasm follows none")
	}
	return -1, &fs.PathError{Op: "open", Path: shown, Err: err}
}

// inside returns the path of a name in the folder, for messages, and an error for what is no plain name.
func (d *Folder) inside(name string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return "", fmt.Errorf("%q is not the name of a file", name)
	}
	return path.Join(d.path, name), nil
}

// Tmp opens the process's /tmp, which may be a mount of its own. A link is an error.
func (w *World) Tmp() (*Folder, error) { return w.folder("/tmp") }

// folder opens a folder by its path, on whatever mount it is.
func (w *World) folder(shown string) (*Folder, error) {
	return w.newFolder(w.root, strings.TrimPrefix(shown, "/"), shown, unix.O_PATH, noLinks)
}

// Folder opens a folder by a path without links, on whatever mount it is. Its files must be on the same one.
func (w *World) Folder(shown string) (*Folder, error) {
	return w.newFolder(w.root, strings.TrimPrefix(path.Clean(shown), "/"), shown, unix.O_RDONLY, noLinks)
}

func (w *World) newFolder(at int, name, shown string, flags int, resolve uint64) (*Folder, error) {
	fd, err := call(w, func() (int, error) {
		return openAt(at, name, shown, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0, resolve)
	}, closeLate)
	if err != nil {
		return nil, err
	}
	return &Folder{w, fd, shown}, nil
}

func closeLate(fd int) { unix.Close(fd) }

// WorkingFolder opens the folder that the process works in, in its World.
func (p *Process) WorkingFolder(w *World) (*Folder, error) {
	fd, err := p.openAt("cwd", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, p.gone(fmt.Errorf("the folder that it works in can't be looked into: %w", err))
	}
	return &Folder{w, fd, "its working folder"}, nil
}

// Close closes the folder.
func (d *Folder) Close() { d.w.closeDescriptor(d.fd) }

// Path returns the path of the folder as the process has it.
func (d *Folder) Path() string { return d.path }

// Folder opens a folder in this one.
func (d *Folder) Folder(name string) (*Folder, error) {
	shown, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	return d.w.newFolder(d.fd, name, shown, unix.O_RDONLY, noMounts)
}

// MakeFolder makes a folder in this one, which nobody but the process's user can use, and opens it. The name must be
// free.
func (d *Folder) MakeFolder(name string) (*Folder, error) {
	shown, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	err = d.w.do(func() error {
		if err := unix.Mkdirat(d.fd, name, 0o700); err != nil {
			return &fs.PathError{Op: "mkdir", Path: shown, Err: err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d.Folder(name)
}

// maxNames is an upper bound for the entries of a folder that are looked at. What is beyond is not found.
const maxNames = 1 << 17

// Names returns the names in the folder, in no order.
func (d *Folder) Names() ([]string, error) {
	return call(d.w, func() ([]string, error) {
		fd, err := openAt(d.fd, ".", d.path, unix.O_RDONLY|unix.O_DIRECTORY, 0, noMounts)
		if err != nil {
			return nil, err
		}
		defer unix.Close(fd)
		var names []string
		buf := make([]byte, 1<<16)
		for len(names) < maxNames {
			n, err := unix.ReadDirent(fd, buf)
			if err != nil {
				return nil, &fs.PathError{Op: "readdir", Path: d.path, Err: err}
			}
			if n <= 0 {
				break
			}
			_, _, names = unix.ParseDirent(buf[:n], -1, names)
		}
		return names, nil
	}, nil)
}

// An Info is what the file system says of a file.
type Info struct {
	Regular bool
	Size    int64 // in bytes
	UID     int
	// ChangedNanos is when it was last changed, its name and its owner included, by the wall clock. It tells a file from
	// another one that is put in its place.
	ChangedNanos int64
}

func infoOf(s *unix.Stat_t) Info {
	return Info{s.Mode&unix.S_IFMT == unix.S_IFREG, s.Size, int(s.Uid), unix.TimespecToNsec(s.Ctim)}
}

// Stat looks at a file of the folder. A link is not followed.
func (d *Folder) Stat(name string) (Info, error) {
	shown, err := d.inside(name)
	if err != nil {
		return Info{}, err
	}
	return call(d.w, func() (Info, error) {
		var s unix.Stat_t
		if err := unix.Fstatat(d.fd, name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return Info{}, &fs.PathError{Op: "stat", Path: shown, Err: err}
		}
		return infoOf(&s), nil
	}, nil)
}

// Owner returns the id of the user whom the folder belongs to.
func (d *Folder) Owner() (int, error) {
	return call(d.w, func() (int, error) {
		var s unix.Stat_t
		if err := unix.Fstat(d.fd, &s); err != nil {
			return -1, &fs.PathError{Op: "stat", Path: d.path, Err: err}
		}
		return int(s.Uid), nil
	}, nil)
}

// Removed reports whether the folder has no name any more.
func (d *Folder) Removed() (bool, error) {
	return call(d.w, func() (bool, error) {
		var s unix.Stat_t
		if err := unix.Fstat(d.fd, &s); err != nil {
			return false, &fs.PathError{Op: "stat", Path: d.path, Err: err}
		}
		return s.Nlink == 0, nil
	}, nil)
}

// Create makes a file that nobody but the process's user can use, with a content. The name must be free.
func (d *Folder) Create(name string, content []byte) error {
	shown, err := d.inside(name)
	if err != nil {
		return err
	}
	return d.w.do(func() error {
		fd, err := openAt(d.fd, name, shown, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600, noMounts)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for len(content) > 0 {
			n, err := unix.Write(fd, content)
			if err != nil {
				return &fs.PathError{Op: "write", Path: shown, Err: err}
			}
			content = content[n:]
		}
		return nil
	})
}

// Remove removes a file of the folder. One that is not there is no error.
func (d *Folder) Remove(name string) error { return d.unlink(name, 0) }

// RemoveFolder removes an empty folder of the folder. One that is not there is no error.
func (d *Folder) RemoveFolder(name string) error { return d.unlink(name, unix.AT_REMOVEDIR) }

func (d *Folder) unlink(name string, flags int) error {
	shown, err := d.inside(name)
	if err != nil {
		return err
	}
	return d.w.do(func() error {
		if err := unix.Unlinkat(d.fd, name, flags); err != nil && !errors.Is(err, unix.ENOENT) {
			return &fs.PathError{Op: "remove", Path: shown, Err: err}
		}
		return nil
	})
}

// ErrLocked is the error of a folder that another gasm has locked.
var ErrLocked = errors.New("another gasm uses it")

// Lock locks the folder until it is closed, or gasm ends.
func (d *Folder) Lock() error {
	return d.w.do(func() error {
		switch err := unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case err != nil:
			return &fs.PathError{Op: "lock", Path: d.path, Err: err}
		}
		return nil
	})
}

// in returns a context that is done when the World's is, or ctx.
func (w *World) in(ctx context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })
	return both, func() { stop(); cancel(nil) }
}

// World returns the World that the folder is in.
func (d *Folder) World() *World { return d.w }
