package gasmtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// protections are kernel settings (fs.protected_symlinks …). Unless all of them are on, gasm
// has HotSpot print all code, and lets no other user log.
var protections = []string{"symlinks", "hardlinks", "fifos"}

// ProtectTmp must be the first call in TestMain. If the kernel is set to open what other users
// have made in /tmp, it restarts the test program in a mount namespace in which the settings
// seem to be on: nobody attacks a machine for tests. Only root can do so; the tests of other
// users run with the settings as they are.
func ProtectTmp() {
	if os.Geteuid() != 0 || protected() {
		return
	}
	runtime.LockOSThread() // the namespace is this thread's, and exec keeps it
	if err := seemProtected(); err != nil {
		panic(fmt.Sprintf("making /tmp seem protected for the tests: %v", err))
	}
	panic(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

func protected() bool {
	for _, kind := range protections {
		if text, err := os.ReadFile("/proc/sys/fs/protected_" + kind); err != nil || strings.TrimSpace(string(text)) == "0" {
			return false
		}
	}
	return true
}

// seemProtected mounts a file with a 1 over each setting.
func seemProtected() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if errors.Is(err, syscall.EINVAL) {
		// In a chroot, / is a folder and not a mount. What is mounted below is in /proc, which is one.
		err = syscall.Mount("", "/proc", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	}
	if err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	dir, err := os.MkdirTemp("", "protected-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	on := filepath.Join(dir, "on")
	if err := os.WriteFile(on, []byte("1\n"), 0o644); err != nil {
		return err
	}
	for _, kind := range protections {
		if err := syscall.Mount(on, "/proc/sys/fs/protected_"+kind, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}
