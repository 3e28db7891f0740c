package record

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gasm-profiler/gasm/record/lockedfolder"
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
	lockedfolder.EachLeft(temporaryName, func(dir string, l *lockedfolder.Lock) bool {
		why := "gasm was killed; the next gasm profile removes it"
		if users := l.Users(dir + "/"); len(users) > 0 {
			why = fmt.Sprintf("JVMs that %s may start log there; when it has ended, the next gasm profile removes it", lockedfolder.ProcessList(users))
		}
		left = append(left, LeftFolder{dir, why})
		return false
	})
	eachEventNote(func(n *eventNote) { left = append(left, LeftFolder{n.dir, n.left()}) })
	eachDebugInfoNote(func(n debugInfoNote, dir string, _ *lockedfolder.Lock) bool {
		left = append(left, LeftFolder{dir, "gasm was killed; " + n.left()})
		return false
	})
	return left
}

// sweep removes the folders that other runs of gasm have left and no process needs.
func sweep() {
	eachEventNote(func(*eventNote) {}) // of a JVM that runs: gasm attach ends it
	lockedfolder.EachLeft(temporaryName, func(dir string, l *lockedfolder.Lock) bool {
		if len(l.Users(dir+"/")) == 0 {
			removeLeft(dir)
		}
		return false
	})
}

// removeLeft removes a temporary folder, with the logs in /tmp of JVMs that could not
// write theirs in it.
func removeLeft(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == lockedfolder.SecretLength {
			head, tail := strayName(filepath.Join(dir, e.Name()))
			for _, log := range logsIn(hotSpotTemp, head, tail) {
				os.Remove(log.path)
			}
		}
	}
	os.RemoveAll(dir)
}
