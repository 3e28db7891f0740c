// Package lockedfolder locks folders while the gasm process that made them runs. Most of them are in /tmp. If that
// process is killed, another gasm process finds the folder ([EachLeft]) and its content: files to remove, or a note of
// what is still switched on in a JVM.
//
// A folder belongs to gasm if it has a file named [LockFile]. The gasm process that made the folder holds a lock on
// that file, and the kernel releases the lock when the process ends, even after kill -9. The file says when that
// process started and in which control groups. With this information, [Lock.Users] finds the processes that may still
// have a path of the folder in their environment.
package lockedfolder

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/record/processend"
)

// A Lock is a lock that this gasm process holds on a folder.
type Lock struct {
	file  *os.File
	began moment // when the gasm process that made the folder started
}

// LockFile is the name of the lock file in a folder. gasm removes a folder that has no lock file only if nothing else
// is in it; see removeUnborn.
const LockFile = "lock"

// unborn is the name that the lock file has before it is locked.
const unborn = LockFile + ".new"

// Make locks a folder that this gasm process has made. The lock file gets its name only when it is locked, so another
// gasm process never finds it unlocked.
func Make(dir string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, unborn), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the folder: %w", err)
	}
	l := &Lock{f, now()}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		if _, err = f.WriteString(l.began.text()); err == nil {
			err = os.Rename(f.Name(), filepath.Join(dir, LockFile))
		}
	}
	if err != nil {
		os.Remove(f.Name())
		f.Close()
		return nil, fmt.Errorf("locking the folder: %w", err)
	}
	return l, nil
}

// take takes the lock of a folder that another gasm process has left behind. It fails if that process still runs, or if
// there is no lock file.
func take(dir string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, LockFile), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
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
	return &Lock{f, parseMoment(string(text))}, nil
}

// Close releases the lock. It does nothing for a nil Lock.
func (l *Lock) Close() {
	if l != nil {
		l.file.Close()
	}
}

// SameBoot reports whether the machine has not restarted since the folder was made. After a restart, the process ids
// and start times that are noted in the folder belong to other processes.
func (l *Lock) SameBoot() bool { return l.began.boot == now().boot }

// A moment says when a gasm process started, and in which control groups.
type moment struct {
	boot   string // the kernel's id of this boot
	ticks  uint64 // when gasm started, in clock ticks since the boot
	cgroup string // gasm's control groups, one per line
}

// now returns when this gasm process started, and its control groups. If there is no /proc, the fields of the result
// are empty.
func now() moment {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	cgroup, _ := os.ReadFile("/proc/self/cgroup")
	return moment{strings.TrimSpace(string(boot)), processend.StartTicks(os.Getpid()), string(cgroup)}
}

func (m moment) text() string { return fmt.Sprintf("%s %d\n%s", m.boot, m.ticks, m.cgroup) }

// parseMoment parses a text that moment.text has returned. If the number of ticks is damaged, it becomes 0, which is
// before the start of any process.
func parseMoment(text string) moment {
	first, cgroup, _ := strings.Cut(text, "\n")
	boot, ticks, _ := strings.Cut(first, " ")
	n, _ := strconv.ParseUint(ticks, 10, 64)
	return moment{boot, n, cgroup}
}
