package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// gather moves the logs into the capture's folder, where they are asm-4711.log. What it
// finds may be of another user's making: it takes plain files only.
func (l *logFolder) gather(dir string) error {
	var errs []error
	for _, log := range append(l.logs(), l.strays()...) {
		to, err := freeName(dir, log.pid)
		if err == nil {
			err = takeLog(log.path, to)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("taking the log of JVM %d: %w", log.pid, err))
		}
	}
	return errors.Join(append(errs, l.gatherEvents(dir), l.gatherProbes(dir))...)
}

// freeName gives the name for a log of a process in a capture. One process may have two
// logs, and none is written over.
func freeName(dir string, pid int) (path string, err error) {
	for _, name := range []string{capture.LogFile(pid), fmt.Sprintf("asm-pid%d.log", pid)} {
		path = filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
	return "", errors.New("the capture has two logs of it already")
}

// takeLog moves a log. It looks at the file when it is in the capture, where nobody can
// put another one in its place.
func takeLog(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, syscall.EXDEV) {
		if err = copyLog(from, to); err == nil {
			err = os.Remove(from)
		}
		return err
	}
	if err != nil {
		return err
	}
	info, err := os.Lstat(to)
	if err != nil {
		return err
	}
	switch owner, err := checkLog(info); {
	case err != nil:
		os.Remove(to)
		return err
	case owner != os.Geteuid():
		return replaceByCopy(to) // its owner may change the file while it is read
	}
	return os.Chmod(to, 0o600)
}

// checkLog tells a log from what a JVM can't have made: a link, or a file with another
// name, which may be anybody's.
func checkLog(info os.FileInfo) (owner int, err error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || stat.Nlink != 1 {
		return 0, errors.New("it is not a plain file, as a JVM makes them")
	}
	return int(stat.Uid), nil
}

// copyLog copies a log to another file system. When that is full, what there is room
// for stays.
func copyLog(from, to string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	return copyMade(in, to)
}

// copyMade copies a file that a JVM has made to a new one. What there is when the disk is full stays.
func copyMade(in *os.File, to string) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if _, err := checkLog(info); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// replaceByCopy replaces a file by a new one with the same content.
func replaceByCopy(path string) error {
	from, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	next := path + ".tmp"
	to, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err = io.Copy(to, from); err == nil {
		err = to.Close()
	}
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}
