package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// openFolder opens and locks a Session's outer folder in the JVM's /tmp. If there is no such
// folder, openFolder creates it. The JVM loads code from this folder, so only the JVM's user may
// have write access to it.
func openFolder(tmp *foreign.Folder, name string) (*foreign.Folder, error) {
	folder, err := tmp.OwnFolder(name)
	if errors.Is(err, fs.ErrNotExist) {
		folder, err = tmp.MakeFolder(name)
	}
	var other *foreign.NotOwnError
	switch {
	case errors.As(err, &other), errors.Is(err, fs.ErrExist): // ErrExist: somebody has just created the folder
		return nil, fmt.Errorf("%w: %w", ErrTaken, err)
	case err != nil:
		return nil, err
	}
	return lockFolder(folder)
}

// lockFolder locks a Session's folder and returns it. If that fails, it closes the folder.
func lockFolder(folder *foreign.Folder) (*foreign.Folder, error) {
	if err := folder.Lock(); err != nil {
		folder.Close()
		if errors.Is(err, foreign.ErrLocked) {
			err = errors.New("another gasm probes it: wait until that has ended")
		}
		return nil, err
	}
	return folder, nil
}

// removeFiles removes the files that Sessions and their JVMs created in a folder. Other files stay.
func removeFiles(folder *foreign.Folder) error {
	names, err := folder.Names()
	for _, name := range names {
		if ownFiles.MatchString(name) {
			err = cmp.Or(err, folder.Remove(name))
		}
	}
	return err
}

// removeInner removes the inner folders of Sessions from a folder, with their files.
func removeInner(outer *foreign.Folder) {
	names, _ := outer.Names()
	for _, name := range names {
		if !secretName.MatchString(name) {
			continue
		}
		if folder, err := outer.OwnFolder(name); err == nil {
			_ = removeFiles(folder)
			folder.Close()
			_ = outer.RemoveFolder(name)
		}
	}
}

// EndLeft removes the probes that an earlier gasm process has left in a JVM. Then it removes that
// process's Session folder, whose path came from [Places].
func EndLeft(ctx context.Context, p *foreign.Process, w *foreign.World, path string) error {
	s, err := open(p, w, path)
	if err != nil {
		return err
	}
	defer s.release()
	if err := s.end(ctx); err != nil {
		return err
	}
	s.remove()
	return nil
}

// RemoveFolder removes the folder of a JVM that has ended, unless another gasm uses it for a JVM
// with the same process id. The World must be the one of the JVM's user.
func RemoveFolder(w *foreign.World, folder string) {
	if !IsFolder(folder) {
		return
	}
	tmp, err := w.Tmp()
	if err != nil {
		return
	}
	s := &Session{tmp: tmp}
	s.path, s.inner = split(folder)
	if s.outer, err = tmp.OwnFolder(path.Base(s.path)); err == nil {
		s.outer, err = lockFolder(s.outer)
	}
	if err != nil {
		tmp.Close()
		return
	}
	s.Close()
}
