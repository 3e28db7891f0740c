package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Left is a temporary folder that still exists although the gasm process that made it has ended.
type Left struct {
	Path string
	Why  string // why it is still there
}

// temporaryPattern is the pattern for os.MkdirTemp. The names that MkdirTemp makes from it match temporaryName.
const temporaryPattern = "gasm-"

var temporaryName = regexp.MustCompile(`^gasm-[0-9]+$`)

// AllLeft returns the user's temporary folders that earlier runs of gasm have left behind. A run leaves a folder behind
// if it was killed, or if a process could still start JVMs that log to the folder. Folders of a gasm process that still
// runs are not returned. On macOS, gasm can't find out whether a folder is in use, so AllLeft returns nil.
func AllLeft() (left []Left) {
	lockedfolder.EachLeft(lockedfolder.TemporaryFolders(), temporaryName, func(dir string, l *lockedfolder.Lock) bool {
		why := "gasm was killed; the next gasm profile removes it"
		if users := l.Users(dir + "/"); len(users) > 0 {
			why = fmt.Sprintf("JVMs that %s may start log there; when it has ended, the next gasm profile removes it",
				lockedfolder.ProcessList(users))
		}
		left = append(left, Left{dir, why})
		return false
	})
	return left
}

// Sweep removes the temporary folders that earlier runs of gasm have left behind, unless a process still needs them.
func Sweep() {
	lockedfolder.EachLeft(lockedfolder.TemporaryFolders(), temporaryName, func(dir string, l *lockedfolder.Lock) bool {
		if len(l.Users(dir+"/")) == 0 {
			removeLeft(dir)
		}
		return false
	})
}

// removeLeft removes a temporary folder. It also removes the logs that JVMs have written to /tmp because they could not
// write to the folder.
func removeLeft(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == lockedfolder.SecretLength {
			head, tail := strayName(filepath.Join(dir, e.Name()))
			for _, log := range logsIn(HotSpotTemp, head, tail) {
				os.Remove(log.Path)
			}
		}
	}
	os.RemoveAll(dir)
}
