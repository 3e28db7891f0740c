package record

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// jmhFiles are the files that JVMs of the command have as JMH's -o, whether the command itself has
// the option or a script that it is gives it to a JVM. It also tells link of JVMs that are forks.
type jmhFiles struct {
	output *outputWatch
	link   *jmhLink

	mu      sync.Mutex
	byPath  map[string]*jmhFile
	stopped bool
}

// maxJMHFiles is more than a script that runs benchmarks writes.
const maxJMHFiles = 1000

func newJMHFiles(output *outputWatch) *jmhFiles {
	return &jmhFiles{output: output, link: newJMHLink(output), byPath: map[string]*jmhFile{}}
}

// followCommand begins to follow the file that JMH's -o in the command of a recording names, if it
// does. The command runs in this process's working directory.
func (f *jmhFiles) followCommand(command []string) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // as followJVM has it of the same command
	}
	if err == nil {
		f.follow(command, dir)
	}
}

// follow follows the file of a command in a folder.
func (f *jmhFiles) follow(command []string, dir string) {
	path := jmhOutput(command)
	if path == "" {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped || f.byPath[path] != nil || len(f.byPath) >= maxJMHFiles {
		return
	}
	lines := &lineWatch{of: f.output, jmh: true}
	file := newJMHFile(path, lines.See)
	f.byPath[path] = file
	go file.run()
}

// maxCommandLine is more of a command line than is looked at, in bytes.
const maxCommandLine = 1 << 20

// followJVM does the same for a JVM that has just started. Only Linux tells of its command and folder.
func (f *jmhFiles) followJVM(pid int) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return // it has ended, or is another user's
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxCommandLine))
	if err != nil || len(text) == 0 {
		return
	}
	command := strings.Split(string(bytes.TrimSuffix(text, []byte{0})), "\x00")
	f.link.found(pid, command)
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return
	}
	f.follow(command, dir)
}

// stop reads the rest of all files, and ends.
func (f *jmhFiles) stop() {
	defer f.link.stop() // behind the files, whose lines it answers for
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for _, file := range f.byPath {
		file.stop()
	}
}
