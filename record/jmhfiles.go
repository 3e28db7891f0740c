package record

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// jmhFiles are the files that JVMs of the command have as JMH's -o, whether the command itself has
// the option or a script that it is gives it to a JVM. It also tells link of JVMs that are forks.
type jmhFiles struct {
	output *outputWatch
	link   *jmhLink
	reach  context.Context // while it lives, the files of other users' JVMs are read

	mu      sync.Mutex
	byPath  map[string]*jmhFile
	stopped bool
}

// maxJMHFiles is more than a script that runs benchmarks writes.
const maxJMHFiles = 1000

func newJMHFiles(reach context.Context, output *outputWatch) *jmhFiles {
	return &jmhFiles{output: output, link: newJMHLink(output), reach: reach, byPath: map[string]*jmhFile{}}
}

// followCommand begins to follow the file that JMH's -o in the command of a recording names, if it
// does. The command runs in this process's working directory.
func (f *jmhFiles) followCommand(command []string) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // as followJVM has it of the same command
	}
	if err == nil {
		f.follow(command, dir, nil)
	}
}

// follow follows the file of a command in a folder, in the World of another user's JVM, which it closes.
func (f *jmhFiles) follow(command []string, dir string, w *foreign.World) {
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
		if w != nil {
			w.Close()
		}
		return
	}
	lines := &lineWatch{of: f.output, jmh: true}
	file := newJMHFile(path, w, lines.See)
	f.byPath[path] = file
	go file.run()
}

// maxCommandLine is more of a command line than is looked at, in bytes.
const maxCommandLine = 1 << 20

// followJVM does the same for a JVM that has just started. Only Linux tells of its command and folder.
func (f *jmhFiles) followJVM(pid int) {
	p, err := foreign.Open(pid)
	if err != nil {
		return // it has ended
	}
	defer p.Close()
	text, err := p.Read("cmdline", maxCommandLine)
	if err != nil || len(text) == 0 {
		return
	}
	command := strings.Split(string(bytes.TrimSuffix(text, []byte{0})), "\x00")
	f.link.found(p, command)
	dir, err := p.Readlink("cwd")
	if err != nil || jmhOutput(command) == "" {
		return
	}
	status, err := p.Status()
	switch {
	case err != nil:
	case status.UID == os.Geteuid():
		f.follow(command, dir, nil)
	default: // what its path leads to is up to that user
		if w, err := p.World(f.reach); err == nil {
			f.follow(command, dir, w)
		}
	}
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
	late := time.After(lastLookTime) // of a file system that does not answer
	for _, file := range f.byPath {
		select {
		case <-file.done:
		case <-late:
			return
		}
	}
}
