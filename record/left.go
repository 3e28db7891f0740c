package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

// A LeftFolder is a temporary folder of a gasm that has ended and could not remove it.
type LeftFolder struct {
	Path string
	Why  string // why it is still there
}

// temporaryPattern is for os.MkdirTemp, and temporaryName tells what that makes of it.
const temporaryPattern = "gasm-"

var temporaryName = regexp.MustCompile(`^gasm-[0-9]+$`)

// LeftFolders finds the user's folders that other runs of gasm have left: because a
// process could still start JVMs that log there, or because gasm was killed. What a gasm
// that lives works in is not among them. On macOS, whose gasm leaves none but by kill -9,
// it can't be found out whether one is in use.
func LeftFolders() (left []LeftFolder) {
	eachLeft(temporaryName, func(dir string, l *lock) bool {
		why := "gasm was killed; the next gasm profile removes it"
		if users := usersOf(l.began, dir+"/"); len(users) > 0 {
			why = fmt.Sprintf("JVMs that %s may start log there; when it has ended, the next gasm profile removes it", processList(users))
		}
		left = append(left, LeftFolder{dir, why})
		return false
	})
	eachEventNote(func(n *eventNote) { left = append(left, LeftFolder{n.dir, n.left()}) })
	eachDebugInfoNote(func(n debugInfoNote, dir string, _ *lock) bool {
		left = append(left, LeftFolder{dir, "gasm was killed; " + n.left()})
		return false
	})
	return left
}

// sweep removes the folders that other runs of gasm have left and no process needs.
func sweep() {
	eachEventNote(func(*eventNote) {}) // of a JVM that runs: gasm attach ends it
	eachLeft(temporaryName, func(dir string, l *lock) bool {
		if len(usersOf(l.began, dir+"/")) == 0 {
			removeLeft(dir)
		}
		return false
	})
}

// eachLeft calls see for each folder of a name that another gasm has left, and holds its
// lock meanwhile, or longer when see says so.
func eachLeft(name *regexp.Regexp, see func(dir string, l *lock) (kept bool)) {
	if runtime.GOOS != "linux" {
		return
	}
	for _, temp := range temporaryFolders() {
		entries, _ := os.ReadDir(temp) // one that can't be read has none of this user's
		for _, e := range entries {
			dir := filepath.Join(temp, e.Name())
			if !name.MatchString(e.Name()) || !isOwnFolder(dir) {
				continue
			}
			switch l, err := takeLock(dir); {
			case err == nil:
				if !see(dir, l) {
					l.close()
				}
			case errors.Is(err, fs.ErrNotExist):
				removeUnborn(dir)
			}
		}
	}
}

// removeUnborn removes a folder whose gasm was killed before it had locked it.
func removeUnborn(dir string) {
	if info, err := os.Lstat(dir); err != nil || time.Since(info.ModTime()) < time.Minute {
		return // its gasm may be about to
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].Name() == lockFile+".new" {
		os.Remove(filepath.Join(dir, entries[0].Name()))
	}
	os.Remove(dir) // fails when there is anything in it
}

// isOwnFolder tells whether a path is a folder of this user, and no link to one.
func isOwnFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// removeLeft removes a temporary folder, with the logs in /tmp of JVMs that could not
// write theirs in it.
func removeLeft(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == secretLength {
			head, tail := strayName(filepath.Join(dir, e.Name()))
			for _, log := range logsIn(hotSpotTemp, head, tail) {
				os.Remove(log.path)
			}
		}
	}
	os.RemoveAll(dir)
}
