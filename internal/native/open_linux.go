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

// OpenMapped opens the regular file of a mapping for reading, and returns its size in bytes. It never returns a
// different file than the mapped one. If a different file is at the path now, the error is [ErrReplaced].
//
// If gasm runs as root and the process is alive, the kernel can open the file without a path (/proc/PID/map_files).
// Otherwise OpenMapped looks the path up, first in gasm's root folder and then in the root folder of the mapping's
// process. This is dangerous, because the process may have chosen the path to make gasm open a file of somebody else.
// So unless the process is trusted, both lookups are done as the process's user. Lookups as root do not follow links.
// If the process has ended, its user is unknown, and gasm as root does not open the file at all. A [Resolver] avoids
// that: it notes the user while the process runs.
func OpenMapped(m *Mapping) (f *os.File, size int64, err error) {
	f, _, err = openMapped(m, owner{})
	if err != nil {
		return nil, 0, err
	}
	return withSize(f)
}

// openMapped is like OpenMapped, but also works if the process has ended. noted is the owner that was noted while the
// process ran. If the process still runs, openMapped returns its present owner. Otherwise it returns the parameter
// noted.
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

// errUnknownUser is returned if gasm runs as root and a process ended before its user was noted.
var errUnknownUser = errors.New("its process has ended, and gasm does not know as which user to open it")

// openHere opens a path in gasm's root folder. The path may be a trap: the owner of the mapping may have put a link
// there to a file that only root can read. So if gasm runs as root, it opens the path as the owner, or without
// following links.
func openHere(o owner, path string) (*os.File, error) {
	asRoot := os.Geteuid() == 0
	switch {
	case asRoot && !o.known:
		return nil, errUnknownUser
	case o.known && o.user.UID != os.Geteuid(), asRoot && !o.here: // root of a container is not root here
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

// openIn opens a path in the World that enter() returns. It needs no context of its own, because a World limits the
// time of each call.
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

// ownerOf returns the owner of a running process. ok is false if the process has ended.
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
	if err != nil || status.State == 'Z' { // a zombie has no root folder to compare with gasm's
		return owner{}, false
	}
	o = owner{known: true, user: status.User, here: p.SharesFiles()}
	if o.user.UID == 0 {
		o.here = p.Trusted() // root of a container is a different user
	}
	return o, true
}

// isTrusted reports whether a folder is safe from other users: only root and gasm's user can put files into it or
// rename a folder above it. For that, the folder and all folders above it must not be links, must belong to root or
// gasm's user, and must not be writable for others. A folder above the given one may be writable if it is sticky, like
// /tmp. In a sticky folder, users can't rename what belongs to somebody else.
func isTrusted(folder string) bool {
	for at := folder; ; at = filepath.Dir(at) {
		var s unix.Stat_t
		if unix.Lstat(at, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFDIR || !isOurs(&s) {
			return false
		}
		others := s.Mode & 0o022
		if os.Geteuid() != 0 && int(s.Gid) == os.Getegid() { // this group usually has only this user as a member
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

// leadsTo reports whether a path leads to the open file f. The file must also belong to root or to this process's user.
func leadsTo(path string, f *os.File) bool {
	var at, opened unix.Stat_t
	return unix.Fstat(int(f.Fd()), &opened) == nil && isOurs(&opened) &&
		unix.Lstat(path, &at) == nil && at.Dev == opened.Dev && at.Ino == opened.Ino
}
