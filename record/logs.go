package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/printassembly"
)

// nameLogs gives the logs that JVMs wrote into a folder the names that they have in
// a capture: asm-pid4711.log becomes asm-4711.log. A log that keeps its first name is
// found under that too.
func nameLogs(dir string) {
	for _, pid := range capture.WritingJVMs(dir) {
		name := filepath.Join(dir, capture.LogFile(pid))
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) { // never in the place of another log
			_ = os.Rename(filepath.Join(dir, capture.WrittenLogFile(pid)), name)
		}
	}
}

// headSize is more than a log's first lines take: <hotspot_log>, the version, the
// arguments and the command. A class path can be long.
const headSize = 1 << 20

// readHead gives what the first lines of a log say about its JVM. The rest of the
// log is read when the capture is opened.
func readHead(path string) (capture.JVM, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return capture.JVM{}, fmt.Errorf("opening the assembly log: %w", err)
	}
	defer f.Close()
	size = min(size, headSize)
	head, err := printassembly.NewLog(io.NewSectionReader(f, 0, size), size, path)
	if err != nil {
		return capture.JVM{}, err
	}
	return capture.Describe(head), nil
}

// removeCompilerLogs removes what LogCompilation leaves behind of a JVM that was
// killed. Each of its compiler threads writes a file in /tmp, hs_c<thread>_pid<pid>.log,
// which the JVM puts into its log and removes when it ends
// (CompileLog::finish_log). A JVM that still runs keeps its files.
func removeCompilerLogs(pid int) {
	if running(pid) {
		return
	}
	files, _ := filepath.Glob(fmt.Sprintf("/tmp/hs_c*_pid%d.log", pid)) // the pattern is well-formed
	for _, f := range files {
		os.Remove(f)
	}
}

// running tells whether there is a process.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

// OverridingVariable finds one of Java's variables whose options take the JVM's log
// away from gasm. gasm's options are at the end of JAVA_TOOL_OPTIONS, and those of the
// other variables come after them. name is "" when no variable does so; cause is what
// to tell the user, and to unset the variable is what helps.
func OverridingVariable() (name, cause string) {
	for _, later := range jdk.OptionVariables[1:] {
		if option := printassembly.Overrides(os.Getenv(later)); option != "" {
			return later, fmt.Sprintf("%s has %s, which takes the JVM's log away from gasm", later, option)
		}
	}
	return "", ""
}

// javaOptions are all words that may be options of the command's JVM.
func javaOptions(command []string) []string {
	words := append([]string(nil), command...)
	for _, name := range jdk.OptionVariables {
		words = append(words, strings.Fields(os.Getenv(name))...)
	}
	return words
}
