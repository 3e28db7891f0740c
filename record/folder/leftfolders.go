package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Left is a folder that a gasm could not remove before it ended.
type Left struct {
	Path string
	Why  string // why it is still there
}

// temporaryPattern is for os.MkdirTemp. The names that MkdirTemp makes match temporaryName.
const temporaryPattern = "gasm-"

var temporaryName = regexp.MustCompile(`^gasm-[0-9]+$`)

// AllLeft returns the user's temporary folders that other runs of gasm have left, because a process could still start
// JVMs that log there, or because gasm was killed. It leaves out the folders of a gasm that still runs. It returns none
// on macOS, where it can't be found out whether a folder is in use. There, only a gasm that was killed leaves a folder.
func AllLeft() (left []Left) {
	lockedfolder.EachLeft(lockedfolder.TemporaryFolders(), temporaryName, func(dir string, l *lockedfolder.Lock) bool {
		why := "gasm was killed; the next gasm profile removes it"
		if users := l.Users(dir + "/"); len(users) > 0 {
			why = fmt.Sprintf("JVMs that %s may start log there; when it has ended, the next gasm profile removes it", lockedfolder.ProcessList(users))
		}
		left = append(left, Left{dir, why})
		return false
	})
	return left
}

// Sweep removes the folders that other runs of gasm have left and no process needs.
func Sweep() {
	lockedfolder.EachLeft(lockedfolder.TemporaryFolders(), temporaryName, func(dir string, l *lockedfolder.Lock) bool {
		if len(l.Users(dir+"/")) == 0 {
			removeLeft(dir)
		}
		return false
	})
}

// removeLeft removes a temporary folder, together with the logs in /tmp of JVMs that could not write their logs into
// the folder.
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
