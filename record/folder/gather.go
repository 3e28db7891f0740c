package folder

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
	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/hotspot/probe"
)

// Gather moves the logs into the capture's folder and names them asm-4711.log and so on. It takes only regular files,
// because another user may have created links or special files with such names.
func (l *Logs) Gather(dir string) error {
	var errs []error
	for _, log := range append(l.Written(), l.Strays()...) {
		to, err := freeName(dir, log.PID)
		if err == nil {
			err = takeLog(log.Path, to, noLimit)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("taking the log of JVM %d: %w", log.PID, err))
		}
	}
	return errors.Join(append(errs, l.gatherEvents(dir), l.gatherProbes(dir))...)
}

// freeName returns a path in the capture for the log of a process. A process may have two logs, so freeName looks for a
// name that is not taken yet.
func freeName(dir string, pid int) (path string, err error) {
	for _, name := range []string{capture.LogFile(pid), fmt.Sprintf("asm-pid%d.log", pid)} {
		path = filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
	return "", errors.New("the capture has two logs of it already")
}

// noLimit is the limit for HotSpot's logs of code, which may have any size.
const noLimit = math.MaxInt64

// takeLog moves a log of at most limit bytes. It moves the file first and checks it afterwards. Other users can't write
// to the capture, so nobody can replace the file after the check.
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
	owner, err := CheckLog(info)
	if err == nil {
		err = checkSize(info, limit)
	}
	switch {
	case err != nil:
		os.Remove(to)
		return err
	case owner != os.Geteuid():
		return replaceByCopy(to, limit) // the file's owner could change it while gasm reads it
	}
	return os.Chmod(to, 0o600)
}

// CheckLog returns the user id of a log's owner. It returns an error for what can't be the log of a JVM: links, devices
// and so on. It also refuses a file with several hard links, because another user may have made it as a link to
// somebody else's file.
func CheckLog(info os.FileInfo) (owner int, err error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || stat.Nlink != 1 {
		return 0, errors.New("it is not a regular file, as a JVM makes them")
	}
	return int(stat.Uid), nil
}

// A sparse file takes almost no space on the disk, but reading it takes as long as reading a full one. HotSpot writes
// a log from its beginning to its end, so a large sparse file can't be a log. On a file system with compression, a log
// is only about ten times smaller, which is far from the limit.
const (
	mostHoles   = 64       // the maximum ratio of a log's size to its space on the disk
	smallEnough = 64 << 20 // in bytes; smaller files are not checked
)

// checkSize returns an error if a log has more than limit bytes. If limit is noLimit, it returns an error for a large
// sparse file.
func checkSize(info os.FileInfo, limit int64) error {
	size := info.Size()
	if size > limit {
		return fmt.Errorf("it has %d bytes, and gasm takes %d", size, limit)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && limit == noLimit && size > smallEnough &&
		size/mostHoles > stat.Blocks*512 {
		return fmt.Errorf("it has %d bytes, of which %d are on disk: no JVM writes such a file", size, stat.Blocks*512)
	}
	return nil
}

// copyLog copies a log to another file system. If that file system gets full, the part that was copied remains.
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
	if _, err := CheckLog(info); err != nil {
		return err
	}
	if err := checkSize(info, limit); err != nil {
		return err
	}
	return copyNew(in, to, info.Size())
}

// copyNew copies a file to a new file, but at most size bytes. If the disk gets full, the part that was copied remains.
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

// replaceByCopy replaces a file of the capture with a new file that has the same content and belongs to this user.
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

// gatherProbes moves the files of gasm's agents into the capture's folder: the rings, which have the counts of calls,
// and the reports.
func (l *Logs) gatherProbes(dir string) error {
	var errs []error
	take := func(files []Log, name func(pid int) string, limit int64) {
		for _, f := range files {
			if err := takeLog(f.Path, filepath.Join(dir, name(f.PID)), limit); err != nil {
				errs = append(errs, fmt.Errorf("taking the probes of JVM %d: %w", f.PID, err))
			}
		}
	}
	take(l.Rings(), capture.ProbeRings, probe.MaxRings)
	take(l.Reports(), capture.ProbeReport, probe.MaxReport)
	return errors.Join(errs...)
}

// maxEventLog is the maximum size of a log of events, in bytes. HotSpot begins a new file when a file has 20 MB.
const maxEventLog = 1 << 28

// checkEvents checks the logs of events that JVMs have written into a capture themselves. It removes what can't be a
// log.
func checkEvents(dir string) error {
	var errs []error
	for _, log := range eventLogs(dir) {
		info, err := os.Lstat(log.Path)
		if err == nil {
			_, err = CheckLog(info)
		}
		if err == nil {
			err = checkSize(info, maxEventLog)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			os.Remove(log.Path)
			errs = append(errs, fmt.Errorf("taking the events of JVM %d: %w", log.PID, err))
		}
	}
	return errors.Join(errs...)
}

// eventLogs returns the logs of events in a folder. That includes the full files (ev-4711.log.0 and so on).
func eventLogs(dir string) (found []Log) {
	for _, suffix := range append([]string{""}, hslog.Rotated("")...) {
		found = append(found, logsIn(dir, eventHead, eventTail+suffix)...)
	}
	return found
}

// gatherEvents moves the logs of events into the capture's folder, under the same names. Like Gather, it takes only
// regular files.
func (l *Logs) gatherEvents(dir string) error {
	var errs []error
	for i, suffix := range append([]string{""}, hslog.Rotated("")...) {
		for _, log := range logsIn(l.Path, eventHead, eventTail+suffix) {
			to := filepath.Join(dir, capture.EventLog(log.PID)+suffix)
			if _, err := os.Lstat(to); err == nil {
				errs = append(errs, fmt.Errorf("taking the events of JVM %d: %s is there already", log.PID, to))
				continue
			}
			if err := takeLog(log.Path, to, maxEventLog); err != nil && (i == 0 || !errors.Is(err, os.ErrNotExist)) {
				errs = append(errs, fmt.Errorf("taking the events of JVM %d: %w", log.PID, err))
			}
		}
	}
	return errors.Join(errs...)
}
