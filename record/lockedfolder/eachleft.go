package lockedfolder

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// TemporaryFolders returns the folders in which gasm makes its own folders if the user has not named one: $TMPDIR, /tmp
// and /var/tmp.
func TemporaryFolders() []string {
	dirs := []string{"/tmp", "/var/tmp"}
	if temp, err := filepath.Abs(os.TempDir()); err == nil && temp != dirs[0] && temp != dirs[1] {
		dirs = append([]string{temp}, dirs...)
	}
	return dirs
}

// runFolder is the folder for files that are needed until the machine restarts. It is a variable so that tests can
// change it.
var runFolder = "/run"

// NoteFolders returns the folders in which gasm writes notes about what it has switched on in a JVM. The preferred
// folder comes first. The next gasm process looks for notes in these folders, and acts on them, so nobody else must be
// able to write notes there. If gasm runs as root and can write to /run, it uses only /run. The reason is that /tmp and
// /var/tmp may be shared with a container, whose root has the same user id.
func NoteFolders() []string {
	if os.Geteuid() == 0 && onlyRootWrites(runFolder) {
		return []string{runFolder}
	}
	dirs := TemporaryFolders()
	slices.Reverse(dirs) // TMPDIR's folder comes last, because the next gasm may have another TMPDIR
	return dirs
}

// onlyRootWrites reports whether root, and nobody else, can make files in a folder.
func onlyRootWrites(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && unix.Access(dir, unix.W_OK) == nil // the folder may be mounted read-only
}

// SecretLength is the number of bytes of a name that [SecretName] returns: 128 bits in hexadecimal.
const SecretLength = 32

// SecretName returns a random name for a file that other users must not find.
func SecretName() string {
	secret := make([]byte, SecretLength/2)
	_, _ = rand.Read(secret) // it never fails
	return hex.EncodeToString(secret)
}

// EachLeft looks in dirs for folders that other gasm processes have left behind. name is a regular expression for the
// names of these folders. EachLeft locks each of them and calls see(dir, l) with the folder's path and the lock. If see
// returns false, EachLeft closes the lock. If see returns true, the caller of EachLeft must close the lock later.
func EachLeft(dirs []string, name *regexp.Regexp, see func(dir string, l *Lock) (kept bool)) {
	if runtime.GOOS != "linux" {
		return
	}
	for _, temp := range dirs {
		entries, _ := os.ReadDir(temp) // a folder that can't be read has no folders of this user
		for _, e := range entries {
			dir := filepath.Join(temp, e.Name())
			if !name.MatchString(e.Name()) || !isOwnFolder(dir) {
				continue
			}
			switch l, err := take(dir); {
			case err == nil:
				if !see(dir, l) {
					l.Close()
				}
			case errors.Is(err, fs.ErrNotExist):
				removeUnborn(dir)
			}
		}
	}
}

// removeUnborn removes a folder without a lock file, if nothing else is in it. The gasm process that made the folder
// was killed before it could lock it.
func removeUnborn(dir string) {
	if info, err := os.Lstat(dir); err != nil || time.Since(info.ModTime()) < time.Minute {
		return // the gasm process that made it may be about to lock it
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].Name() == unborn {
		os.Remove(filepath.Join(dir, unborn))
	}
	os.Remove(dir) // fails when there is anything else in it
}

// isOwnFolder reports whether a path is a folder that belongs to this user, and not a link to a folder.
func isOwnFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
