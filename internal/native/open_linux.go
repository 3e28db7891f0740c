package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// OpenMapped opens the regular file of a mapping for reading, and returns its size in bytes. It never opens another
// file than the mapped one. If it finds only another file, the error is [ErrReplaced].
//
// For root, the kernel leads to the file of a live process without a path. Otherwise the path is looked up first in
// gasm's root folder and then in that of the mapping's process. Unless that process is trusted, both lookups are done as
// its user, who may have chosen the path. As root they follow no links. If the process has ended, root looks up nothing, because
// its user is unknown; a [Resolver] notes that earlier.
func OpenMapped(m *Mapping) (f *os.File, size int64, err error) {
	f, _, err = openMapped(m, owner{})
	if err != nil {
		return nil, 0, err
	}
	return withSize(f)
}

// openMapped is OpenMapped for a process whose owner was noted while it ran. It also returns the owner as it is now or,
// if the process has ended, as it was noted.
func openMapped(m *Mapping, noted owner) (*os.File, owner, error) {
	p, err := foreign.Open(m.PID)
	if err == nil {
		defer p.Close()
		if now, ok := ownerOfProcess(p); ok {
			noted = now
		}
		f, err := p.Mapped(m.Lo, m.Hi)
		if err == nil && isFileOf(f, m) {
			return f, noted, nil
		}
		if err == nil { // the mapping does not exist any more
			f.Close()
		}
		if errors.Is(err, foreign.ErrUserSpace) {
			return nil, noted, err
		}
	}
	if m.Deleted {
		return nil, noted, ErrReplaced
	}
	var first error
	for _, open := range []func() (*os.File, error){
		func() (*os.File, error) { return openHere(noted, m.Path) },
		func() (*os.File, error) { return openThere(p, m.Path) },
	} {
		f, err := open()
		if err == nil {
			if isFileOf(f, m) {
				return f, noted, nil
			}
			f.Close()
			err = ErrReplaced
		}
		if first == nil {
			first = err
		}
	}
	return nil, noted, first
}

// errUnknownUser is root's error for a file of a process that had ended before gasm saw it.
var errUnknownUser = errors.New("its process has ended, and gasm does not know as which user to open it")

// openHere opens a path in gasm's root folder. The owner's process may have chosen the path, and may have replaced what
// is there by a link to a file that only root can read.
func openHere(o owner, path string) (*os.File, error) {
	asRoot := os.Geteuid() == 0
	switch {
	case asRoot && !o.known:
		return nil, errUnknownUser
	case o.known && o.user.UID != os.Geteuid(), asRoot && !o.here: // here, a container's root is another user
		return openIn(path, func(ctx context.Context) (*foreign.World, error) {
			return foreign.OwnWorld(ctx, o.user)
		})
	case asRoot:
		f, _, err := regular.OpenWithoutLinks(path)
		return f, err
	}
	f, _, err := regular.Open(path)
	return f, err
}

// openThere opens a path in the root folder of a process.
func openThere(p *foreign.Process, path string) (*os.File, error) {
	if p == nil {
		return nil, foreign.ErrEnded
	}
	return openIn(path, p.World)
}

// openIn opens a path in the World that enter returns. It takes no context, because the World limits the time of each
// call.
func openIn(path string, enter func(context.Context) (*foreign.World, error)) (*os.File, error) {
	w, err := enter(context.Background())
	if err != nil {
		return nil, err
	}
	defer w.Close()
	f, err := w.Open(path)
	if err != nil {
		return nil, err
	}
	return f.Release()
}

// ownerOf returns the owner of a process that runs. ok is false if it has ended.
func ownerOf(pid int) (o owner, ok bool) {
	p, err := foreign.Open(pid)
	if err != nil {
		return owner{}, false
	}
	defer p.Close()
	return ownerOfProcess(p)
}

func ownerOfProcess(p *foreign.Process) (o owner, ok bool) {
	status, err := p.Status()
	if err != nil || status.State == 'Z' { // what has ended has no root folder to compare
		return owner{}, false
	}
	o = owner{known: true, user: status.User, here: p.SharesFiles()}
	if o.user.UID == 0 {
		o.here = p.Trusted() // a container's root is another user
	}
	return o, true
}

// isTrusted reports whether nobody but root and gasm's user can change which file a path in a folder leads to: no
// element of the folder's path is a link, and nobody else may write to a folder in it. Others may write to a sticky
// folder above, such as /tmp, because they can't replace what is not theirs there.
func isTrusted(folder string) bool {
	for at := folder; ; at = filepath.Dir(at) {
		var s unix.Stat_t
		if unix.Lstat(at, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFDIR || !isOurs(&s) {
			return false
		}
		others := s.Mode & 0o022
		if os.Geteuid() != 0 && int(s.Gid) == os.Getegid() { // distributions give each user such a group
			others &^= 0o020
		}
		if others != 0 && (at == folder || s.Mode&unix.S_ISVTX == 0) {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// isOurs reports whether a file belongs to root or to this process's user.
func isOurs(s *unix.Stat_t) bool { return s.Uid == 0 || int(s.Uid) == os.Geteuid() }

// leadsTo reports whether a path leads to an open file of root's or of this process's user.
func leadsTo(path string, f *os.File) bool {
	var at, opened unix.Stat_t
	return unix.Fstat(int(f.Fd()), &opened) == nil && isOurs(&opened) &&
		unix.Lstat(path, &at) == nil && at.Dev == opened.Dev && at.Ino == opened.Ino
}
