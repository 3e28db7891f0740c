package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gasm-profiler/gasm/capture"
)

// gather moves the logs into the capture's folder, where they are asm-4711.log. What it
// finds may be of another user's making: it takes plain files only.
func (l *logFolder) gather(dir string) error {
	var errs []error
	for _, log := range append(l.logs(), l.strays()...) {
		to, err := freeName(dir, log.pid)
		if err == nil {
			err = takeLog(log.path, to, noLimit)
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

// noLimit is for HotSpot's logs of code, of which nobody knows how large they become.
const noLimit = math.MaxInt64

// takeLog moves a log of at most limit bytes. It looks at the file when it is in the capture, where nobody can
// put another one in its place.
func takeLog(from, to string, limit int64) error {
	err := os.Rename(from, to)
	if errors.Is(err, syscall.EXDEV) {
		if err = copyLog(from, to, limit); err == nil {
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
	owner, err := checkLog(info)
	if err == nil {
		err = checkSize(info, limit)
	}
	switch {
	case err != nil:
		os.Remove(to)
		return err
	case owner != os.Geteuid():
		return replaceByCopy(to, limit) // its owner may change the file while it is read
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

// HotSpot writes a log from its beginning to its end. A file with next to nothing on disk is not one: to read it would take
// as long as its size says. File systems that compress make logs ten times smaller.
const (
	mostHoles   = 64       // the size is at most so many times what is on disk
	smallEnough = 64 << 20 // in bytes: any file may have as many
)

// checkSize checks the size of a log.
func checkSize(info os.FileInfo, limit int64) error {
	size := info.Size()
	if size > limit {
		return fmt.Errorf("it has %d bytes, and gasm takes %d", size, limit)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && limit == noLimit && size > smallEnough && size/mostHoles > stat.Blocks*512 {
		return fmt.Errorf("it has %d bytes, of which %d are on disk: no JVM writes such a file", size, stat.Blocks*512)
	}
	return nil
}

// copyLog copies a log to another file system. When that is full, what there is room
// for stays.
func copyLog(from, to string, limit int64) error {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if _, err := checkLog(info); err != nil {
		return err
	}
	if err := checkSize(info, limit); err != nil {
		return err
	}
	return copyNew(in, to, info.Size())
}

// copyNew copies the first bytes of a file to a new one. What there is when the disk is full stays.
func copyNew(in io.Reader, to string, size int64) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, io.LimitReader(in, size)); err != nil {
		return err
	}
	return out.Close()
}

// replaceByCopy replaces a file of the capture by a new one with the same content.
func replaceByCopy(path string, limit int64) error {
	next := path + ".tmp"
	err := copyLog(path, next, limit)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}
