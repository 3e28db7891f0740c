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

// protections are kernel settings that keep users from misusing files in a folder like /tmp. The list has the ends of
// their names: fs.protected_symlinks and so on. If one of these settings is off, gasm does not let HotSpot write a log
// (LogCompilation), but makes it print all code instead. If fs.protected_symlinks is off and gasm runs as root, JVMs of
// other users can't create logs.
var protections = []string{"symlinks", "hardlinks", "fifos"}

// ProtectTmp must be the first call in TestMain. If a kernel setting that protects files in /tmp is off, it restarts
// the test program in a mount namespace where all these settings seem to be on. That is safe, because nobody attacks a
// machine that runs tests. If the tests do not run as root, ProtectTmp does nothing, because only root can do this.
func ProtectTmp() {
	if os.Geteuid() != 0 || protected() {
		return
	}
	runtime.LockOSThread() // the mount namespace belongs to this thread, and exec keeps it
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

// seemProtected moves this thread to a new mount namespace. For each of the settings in protections, it mounts a file
// with the text "1" over the setting's file in /proc/sys.
func seemProtected() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if errors.Is(err, syscall.EINVAL) {
		// In a chroot, / is an ordinary folder and not a mount point. /proc is a mount point, and the mounts below are
		// all in /proc.
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
