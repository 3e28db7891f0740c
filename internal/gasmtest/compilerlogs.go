package gasmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// RemoveCompilerLogs removes the LogCompilation files that a killed JVM left behind in /tmp. It returns the paths of
// the files that were written after the given time. Older files belong to an earlier JVM with the same process id.
func RemoveCompilerLogs(pid int, after time.Time) (written []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/tmp/hs_c*_pid%d.log", pid)) // the pattern is well-formed
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(after) {
			written = append(written, path)
		}
		os.Remove(path)
	}
	return written
}
