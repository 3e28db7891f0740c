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

// A User is the identity by which the kernel decides what a process may access.
type User struct {
	UID, GID int   // effective ids
	Groups   []int // supplementary groups
}

// same reports whether two users have the same rights.
func (u User) same(other User) bool {
	return u.UID == other.UID && u.GID == other.GID && slices.Equal(u.Groups, other.Groups)
}

// errOther returns the error for operations that gasm does only as the user of the other process.
func errOther() error {
	return &fix.Error{Err: errors.New("it belongs to another user"), Fix: "run gasm as that user or as root"}
}

// isOther reports whether u is another user, and gasm can't become that user because it is not root.
func (u User) isOther() bool { return os.Geteuid() != 0 && os.Geteuid() != u.UID }

// become gives the calling thread the user's identity and takes away its capabilities. The function set, which changes
// the user id, must be forFiles or effectively (see below). The thread must be locked to its goroutine, and must end
// with it. If gasm is not root, the thread keeps gasm's own identity even if u is another user: without capabilities,
// it can read only what all users, or gasm's own user, may read.
func (u User) become(set func(uid int) error) error {
	self := u.UID
	if u.isOther() {
		self = os.Geteuid()
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
	if uid, err := unix.SetfsuidRetUid(-1); err != nil || uid != self { // -1 only asks for the id
		return fmt.Errorf("becoming its user: the kernel says %d and not %d", uid, self)
	}
	return nil
}

// replace changes the calling thread's supplementary groups, group and user. It makes the system calls directly,
// because the functions of package syscall change all threads of the process.
func (u User) replace(set func(uid int) error) error {
	if now, err := unix.Getgroups(); err != nil || !slices.Equal(now, u.Groups) {
		groups := make([]uint32, len(u.Groups)+1) // one element more than needed, so that groups[0] always exists
		for i, g := range u.Groups {
			groups[i] = uint32(g)
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(u.Groups)), uintptr(unsafe.Pointer(&groups[0])),
			0); errno != 0 {
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

// forFiles changes the user id with which the calling thread accesses files (setfsuid(2)). The real, the effective and
// the saved user stay the same, so the other user can neither signal the thread nor change its scheduling.
func forFiles(uid int) error { return unix.Setfsuid(uid) }

// effectively changes the effective user of the calling thread. That is the user which the other end of a socket sees.
// The new user can change the thread's scheduling (sched_setaffinity(2)), so the thread should do little and end soon.
func effectively(uid int) error {
	const keep = ^uintptr(0) // leaves the real and the saved user as they are
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		return errno
	}
	return nil
}

// speaking calls f on a new thread whose effective user is u, and returns the error of that call. It is for connections
// to a JVM: JVMs before JDK 12 answer only their own user, not even root.
func (u User) speaking(f func() error) error {
	if u.isOther() {
		return errOther()
	}
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

// offFirstThread runs f on a locked thread that ends with f and is not the first thread of the process. The first
// thread must not change its user, because for kill(2) and /proc/PID the kernel regards the first thread's user as the
// user of the process.
func offFirstThread(f func()) {
	runtime.LockOSThread() // not unlocked after f, so that the runtime ends the thread with the goroutine
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	elsewhere := make(chan struct{})
	go func() {
		runtime.LockOSThread() // the first thread is locked to the parent goroutine, which waits
		close(elsewhere)
		f()
	}()
	<-elsewhere
	runtime.UnlockOSThread()
}
