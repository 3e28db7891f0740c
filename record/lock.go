package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A lock tells that a folder is gasm's, and that this gasm lives. The kernel lets go of
// it when gasm ends, also by kill -9. What the file has in it tells of which processes
// the folder may be used.
type lock struct {
	file  *os.File
	began moment
}

// lockFile is the name of a lock in its folder. A folder without it is not gasm's to
// remove.
const lockFile = "lock"

// makeLock locks a folder. The file has its name only when it is locked.
func makeLock(dir string) (*lock, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the folder: %w", err)
	}
	l := &lock{f, thisMoment()}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		if _, err = f.WriteString(l.began.text()); err == nil {
			err = os.Rename(f.Name(), path)
		}
	}
	if err != nil {
		os.Remove(f.Name())
		f.Close()
		return nil, fmt.Errorf("locking the folder: %w", err)
	}
	return l, nil
}

// takeLock takes the lock of a folder that another gasm has left. It fails when that
// gasm lives, and where there is no lock.
func takeLock(dir string) (*lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &lock{f, parseMoment(string(text))}, nil
}

func (l *lock) close() { l.file.Close() }

// A moment is a point in the machine's life, and where in it gasm was.
type moment struct {
	boot   string // the id of this run of the kernel
	ticks  uint64 // since it started
	cgroup string // gasm's control groups, a line each
}

// thisMoment is when gasm started. Without /proc nothing is known.
func thisMoment() moment {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	cgroup, _ := os.ReadFile("/proc/self/cgroup")
	return moment{strings.TrimSpace(string(boot)), startTicks(os.Getpid()), string(cgroup)}
}

func (m moment) text() string { return fmt.Sprintf("%s %d\n%s", m.boot, m.ticks, m.cgroup) }

func parseMoment(text string) moment {
	first, cgroup, _ := strings.Cut(text, "\n")
	boot, ticks, _ := strings.Cut(first, " ")
	n, _ := strconv.ParseUint(ticks, 10, 64) // without a number all processes are later
	return moment{boot, n, cgroup}
}
