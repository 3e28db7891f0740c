package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The names of a capture's files, beside one log for each JVM.
const (
	DescriptionFile = "capture.json"
	SamplesFile     = "samples.txt"
	SymbolsFile     = "symbols.txt"
)

// LogPattern is the name of a log for -XX:LogFile. HotSpot puts "pid" and the
// process id in the place of %p (make_log_name_internal in ostream.cpp), so it
// writes asm-pid4711.log; see [WrittenLogFile].
const LogPattern = "asm-%p.log"

// logGlob matches what HotSpot makes of LogPattern, and what LogFile names.
const logGlob = "asm-*.log"

// LogFile is the name of a JVM's log in a capture: asm-4711.log.
func LogFile(pid int) string { return fmt.Sprintf("asm-%d.log", pid) }

// WrittenLogFile is the name that a JVM's log has while the JVM writes it, which
// HotSpot makes of LogPattern: asm-pid4711.log.
func WrittenLogFile(pid int) string { return fmt.Sprintf("asm-pid%d.log", pid) }

// WritingJVMs gives the processes that write logs into a folder: those with a file
// that WrittenLogFile names.
func WritingJVMs(dir string) []int {
	var pids []int
	entries, _ := os.ReadDir(dir) // a folder that is gone has none
	for _, e := range entries {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".log"), "asm-pid")
		if pid, err := strconv.Atoi(digits); ok && err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Logs gives the paths of the logs in a folder, under either of a log's names, in their
// order. The error is that of a folder which can't be read.
func Logs(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if isLog, _ := filepath.Match(logGlob, e.Name()); isLog { // the pattern is well-formed
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}
