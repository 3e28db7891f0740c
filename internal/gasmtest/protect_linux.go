package gasmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// protections are the settings without which gasm has HotSpot print all code, and lets no
// other user log.
var protections = []string{"symlinks", "hardlinks", "fifos"}

// ProtectTmp is called first in TestMain. Where the kernel opens what other users have
// made in /tmp, it starts the test program anew in a mount namespace in which it seems
// that it does not: nobody plants anything on a machine for tests. Only root can do so;
// the tests of others run as their machine is.
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
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
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
