package foreign

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/fix"
)

// A User is who a process is to the kernel.
type User struct {
	UID, GID int   // the effective ones
	Groups   []int // the supplementary ones
}

// same reports whether two users have the same rights.
func (u User) same(other User) bool {
	return u.UID == other.UID && u.GID == other.GID && slices.Equal(u.Groups, other.Groups)
}

// become makes the calling thread one of the user, in the way of set, without capabilities. The thread must be locked to
// its goroutine, and must end with it. A process that is not root stays who it is.
func (u User) become(set func(uid int) error) error {
	if os.Geteuid() != 0 && os.Geteuid() != u.UID {
		return &fix.Error{Err: errors.New("it belongs to another user"), Fix: "run gasm as that user or as root"}
	}
	if os.Geteuid() == 0 {
		if err := u.replace(set); err != nil {
			return fmt.Errorf("becoming its user: %w", err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new rights: %w", err)
	}
	if uid, err := unix.SetfsuidRetUid(-1); err != nil || uid != u.UID { // -1 changes nothing
		return fmt.Errorf("becoming its user: the kernel says %d and not %d", uid, u.UID)
	}
	return nil
}

// replace changes the thread's groups, its group and its user. The system calls are made directly, because those of Go
// change all threads.
func (u User) replace(set func(uid int) error) error {
	if now, err := unix.Getgroups(); err != nil || !slices.Equal(now, u.Groups) {
		groups := make([]uint32, len(u.Groups)+1) // so that there is a first one
		for i, g := range u.Groups {
			groups[i] = uint32(g)
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(u.Groups)), uintptr(unsafe.Pointer(&groups[0])), 0); errno != 0 {
			return fmt.Errorf("its groups: %w", errno)
		}
	}
	gid := uintptr(u.GID)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
		return fmt.Errorf("its group %d: %w", u.GID, errno)
	}
	if err := set(u.UID); err != nil {
		return fmt.Errorf("its user %d: %w", u.UID, err)
	}
	return nil
}

// forFiles makes a user the one as whom the calling thread reaches files (setfsuid(2)). The real, the effective and the
// saved user stay, so that the other user can neither signal the thread nor change how it is scheduled.
func forFiles(uid int) error { return unix.Setfsuid(uid) }

// effectively makes a user the effective one of the calling thread, whom the other end of a socket takes it for. That user
// can change how the thread is scheduled (sched_setaffinity(2)), so it should do little and end.
func effectively(uid int) error {
	const keep = ^uintptr(0) // for the real and the saved one
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		return errno
	}
	return nil
}

// speaking runs f on a thread of its own whose effective user is u. JVMs before JDK 12 answer no other one, not even root.
func (u User) speaking(f func() error) error {
	done := make(chan error, 1)
	go offFirstThread(func() {
		err := u.become(effectively)
		if err == nil {
			err = f()
		}
		done <- err
	})
	return <-done
}

// offFirstThread runs f on a thread of its own, which ends with f and is not the first one of the process. Others see the
// first thread's user as the process's: kill(2) and /proc/PID ask for it.
func offFirstThread(f func()) {
	runtime.LockOSThread() // and never unlocked, so that the runtime ends the thread with the goroutine
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	elsewhere := make(chan struct{})
	go func() {
		runtime.LockOSThread() // the first thread is this goroutine's parent's, which waits
		close(elsewhere)
		f()
	}()
	<-elsewhere
	runtime.UnlockOSThread()
}
