package native

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// OpenMapped opens the regular file of a mapping for reading, and returns its size in bytes. It never opens another
// file than the mapped one. If it finds only another file, the error is [ErrReplaced].
//
// For root, the kernel leads to the file of a live process without a path. Otherwise the path is looked up first in
// gasm's root folder and then in that of the mapping's process. Unless that process is trusted, both lookups are done as
// its user, who may have chosen the path. If the process has ended, its user is unknown. Then the path is first opened
// with O_PATH, which has no effect on the file.
func OpenMapped(m *Mapping) (f *os.File, size int64, err error) {
	p, err := foreign.Open(m.PID)
	if err == nil {
		defer p.Close()
		if f, err = p.Mapped(m.Lo, m.Hi); err == nil && isFileOf(f, m) {
			return withSize(f)
		}
		if err == nil { // the mapping does not exist any more
			f.Close()
		}
		if errors.Is(err, foreign.ErrUserSpace) {
			return nil, 0, err
		}
	}
	if m.Deleted {
		return nil, 0, ErrReplaced
	}
	var first error
	for _, open := range []func() (*os.File, error){
		func() (*os.File, error) { return openHere(p, m.Path) },
		func() (*os.File, error) { return openThere(p, m.Path) },
	} {
		f, err := open()
		if err == nil {
			if isFileOf(f, m) {
				return withSize(f)
			}
			f.Close()
			err = ErrReplaced
		}
		if first == nil {
			first = err
		}
	}
	return nil, 0, first
}

// withSize returns an open file with its size.
func withSize(f *os.File) (*os.File, int64, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// openHere opens a path in gasm's root folder. p is nil if the process has ended.
func openHere(p *foreign.Process, path string) (*os.File, error) {
	if p != nil && !p.Trusted() {
		status, err := p.Status()
		if err != nil {
			return nil, err
		}
		return openIn(path, func(ctx context.Context) (*foreign.World, error) {
			return foreign.OwnWorld(ctx, status.User)
		})
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

// openIn opens a path in the file system that enter returns. It needs no caller's context: it makes two calls, and the
// World limits the time of each.
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

// ownedHere reports whether an open file belongs to root or to this process's user.
func ownedHere(f *os.File) bool {
	var s unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &s)
	return err == nil && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}
