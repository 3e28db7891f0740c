package foreign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/fix"
)

// A Folder is an open folder in a [World]. It remains the same folder even if it is renamed or replaced.
type Folder struct {
	w    *World
	fd   int
	path string // as the process sees it; for messages
}

// inside returns the path of a file in the folder, for messages. It returns an error for a name like ".." or "a/b",
// which could lead to a file elsewhere.
func (d *Folder) inside(name string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return "", fmt.Errorf("%q is not the name of a file", name)
	}
	return path.Join(d.path, name), nil
}

// Tmp opens the process's /tmp, which may be a mount point. A symbolic link is an error.
func (w *World) Tmp() (*Folder, error) { return w.folder("/tmp") }

// folder opens a folder with O_PATH, as a starting point for lookups. Its path may cross mount points.
func (w *World) folder(shown string) (*Folder, error) {
	return w.newFolder(w.root, strings.TrimPrefix(shown, "/"), shown, unix.O_PATH, noLinks)
}

// Folder opens a folder. Its path must not contain symbolic links, but it may cross mount points. Lookups in the folder
// do not cross mount points.
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

// WorkingFolder opens the process's working folder. w must be the World of the same process.
func (p *Process) WorkingFolder(w *World) (*Folder, error) {
	fd, err := p.openAt("cwd", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, p.gone(fmt.Errorf("the folder that it works in can't be looked into: %w", err))
	}
	return &Folder{w, fd, "its working folder"}, nil
}

// Close closes the folder.
func (d *Folder) Close() { d.w.closeDescriptor(d.fd) }

// Path returns the path of the folder, as the process sees it.
func (d *Folder) Path() string { return d.path }

// Folder opens a folder in d. It must not be a symbolic link or a mount point.
func (d *Folder) Folder(name string) (*Folder, error) {
	shown, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	return d.w.newFolder(d.fd, name, shown, unix.O_RDONLY, noMounts)
}

// A NotOwnError means that a name is already taken by something that gasm must not use: not a folder, or a folder that
// belongs to another user or that other users can access. In /tmp, any user can take a name.
type NotOwnError struct {
	Path string
	Why  string // "belongs to another user (12345)"
}

func (e *NotOwnError) Error() string { return e.Path + " " + e.Why + ": remove it" }

// OwnFolder opens a folder in d. The folder must belong to the process's user, and nobody else may have access to it,
// so other users can't put anything into it. They can't replace it with another folder either, because OwnFolder
// returns an error unless d, for example /tmp, is sticky or writable only by its owner. If the name is taken by
// something else, the error is a [*NotOwnError].
func (d *Folder) OwnFolder(name string) (*Folder, error) {
	if err := d.checkProtects(); err != nil {
		return nil, err
	}
	folder, err := d.Folder(name)
	if err != nil {
		if _, none := d.Stat(name); none == nil { // the name is taken, for example by a file or a link
			cause := err
			if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
				cause = failed.Err
			}
			err = &NotOwnError{path.Join(d.path, name), fmt.Sprintf("is not a folder that gasm can use (%v)", cause)}
		}
		return nil, err
	}
	if err := folder.checkOwn(); err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// checkOwn returns an error unless the folder belongs to the process's user alone. For the rights of other users it is
// enough to look at the mode, because an access control list can't grant more than the mode does.
func (d *Folder) checkOwn() error {
	s, err := d.status()
	switch {
	case err != nil:
		return err
	case int(s.Uid) != d.w.user.UID:
		return &NotOwnError{d.path, fmt.Sprintf("belongs to another user (%d)", s.Uid)}
	case s.Mode&0o077 != 0:
		return &NotOwnError{d.path, fmt.Sprintf("can be accessed by other users (mode %o)", s.Mode&0o777)}
	}
	return nil
}

// checkProtects returns an error if users can replace files of other users in the folder. That is possible if others
// can write to the folder and it is not sticky.
func (d *Folder) checkProtects() error {
	s, err := d.status()
	if err == nil && s.Mode&0o022 != 0 && s.Mode&unix.S_ISVTX == 0 {
		err = &fix.Error{Err: fmt.Errorf("in %s other users can replace any file, because it is not sticky", d.path),
			Fix: "chmod +t " + d.path}
	}
	return err
}

// status returns what the file system says about the folder.
func (d *Folder) status() (unix.Stat_t, error) {
	return call(d.w, func() (unix.Stat_t, error) {
		var s unix.Stat_t
		if err := unix.Fstat(d.fd, &s); err != nil {
			return s, &fs.PathError{Op: "stat", Path: d.path, Err: err}
		}
		return s, nil
	}, nil)
}

// MakeFolder creates a folder in d, and opens it as OwnFolder does. It returns an error if the name exists.
func (d *Folder) MakeFolder(name string) (*Folder, error) {
	shown, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(d.w.mayWrite(), d.checkProtects()); err != nil {
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
	return d.OwnFolder(name)
}

// maxNames limits how many names Names reads. Names may return some more, because it reads many entries at a time.
const maxNames = 1 << 17

// Names returns the names in the folder, in no particular order.
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

// An Info has what the file system says about a file.
type Info struct {
	Regular bool
	Size    int64 // in bytes
	UID     int
	// ChangedNanos is the time at which the file, its name or its owner was last changed (ctime): nanoseconds since
	// 1970 by the wall clock. It distinguishes a file from another file that has replaced it.
	ChangedNanos int64
}

func infoOf(s *unix.Stat_t) Info {
	return Info{s.Mode&unix.S_IFMT == unix.S_IFREG, s.Size, int(s.Uid), unix.TimespecToNsec(s.Ctim)}
}

// Stat returns the Info of a file in the folder. It does not follow a symbolic link.
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

// Owner returns the user id of the folder's owner.
func (d *Folder) Owner() (int, error) {
	s, err := d.status()
	if err != nil {
		return -1, err
	}
	return int(s.Uid), nil
}

// Removed reports whether the folder has been removed. An open folder can still be used then, but no file can be
// created in it.
func (d *Folder) Removed() (bool, error) {
	s, err := d.status()
	return err == nil && s.Nlink == 0, err
}

// Create creates a file with the given content. Only the process's user can access it. Create returns an error if the
// name exists.
func (d *Folder) Create(name string, content []byte) error {
	shown, err := d.inside(name)
	if err = errors.Join(err, d.w.mayWrite()); err != nil {
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

// Remove removes a file in the folder. It returns nil if there is no such file.
func (d *Folder) Remove(name string) error { return d.unlink(name, 0) }

// RemoveFolder removes an empty subfolder. It returns nil if there is no subfolder of that name.
func (d *Folder) RemoveFolder(name string) error { return d.unlink(name, unix.AT_REMOVEDIR) }

func (d *Folder) unlink(name string, flags int) error {
	shown, err := d.inside(name)
	if err = errors.Join(err, d.w.mayWrite()); err != nil {
		return err
	}
	return d.w.do(func() error {
		if err := unix.Unlinkat(d.fd, name, flags); err != nil && !errors.Is(err, unix.ENOENT) {
			return &fs.PathError{Op: "remove", Path: shown, Err: err}
		}
		return nil
	})
}

// ErrLocked means that another gasm has locked a folder.
var ErrLocked = errors.New("another gasm uses it")

// Lock locks the folder for this gasm, without waiting. The lock ends when the Folder is closed or gasm ends. If
// another gasm has locked the folder, the error is ErrLocked.
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

// in returns a context that is done as soon as ctx or the World's context is done. The caller must call the returned
// function when it does not need the context any more.
func (w *World) in(ctx context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })
	return both, func() { stop(); cancel(nil) }
}

// World returns the World of the folder.
func (d *Folder) World() *World { return d.w }
