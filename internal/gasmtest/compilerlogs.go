package gasmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// RemoveCompilerLogs removes the files that LogCompilation has left in /tmp of a JVM that was killed. It returns those
// that were written to after a time. Older ones are another JVM's, which had the same process id before.
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
