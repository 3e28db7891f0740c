package windows

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

// JMHFiles follows the files to which JVMs of the command write JMH's text (JMH's -o). The option may be in the command
// that gasm runs, or in the command of a JVM that a script starts. JMHFiles also watches for JVMs that are forks of JMH
// (jmhlink.go).
type JMHFiles struct {
	output *Output
	link   *jmhLink

	mu      sync.Mutex
	byPath  map[string]*jmhFile
	stopped bool
}

// maxJMHFiles is the maximum number of files that are followed. Scripts that run benchmarks write fewer files.
const maxJMHFiles = 1000

// NewJMHFiles begins to watch for forks of JMH, and to record when the forks send their lines. It does not follow a
// file yet. The caller must call Stop.
func NewJMHFiles(output *Output) *JMHFiles {
	return &JMHFiles{output: output, link: newJMHLink(output), byPath: map[string]*jmhFile{}}
}

// FollowCommand begins to follow the file that JMH's option -o names, if the recorded command has this option. A
// relative path starts from this process's working directory, because the command runs there, too.
func (f *JMHFiles) FollowCommand(command []string) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // so that FollowJVM gets the same path for the same command
	}
	if err == nil {
		f.follow(command, dir, nil)
	}
}

// follow follows the file that -o names in a command that runs in the folder dir. If the JVM belongs to another user,
// w is the JVM's World, which opens files with the rights of that user. Otherwise w is nil. follow makes sure that w
// is closed.
func (f *JMHFiles) follow(command []string, dir string, w *foreign.World) {
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
	lines := &stream{of: f.output, jmh: true}
	file := newJMHFile(path, w, lines.see)
	f.byPath[path] = file
	go file.run()
}

// maxCommandLine is the maximum number of bytes of a command line that are read.
const maxCommandLine = 1 << 20

// FollowJVM begins to follow the file that JMH's -o names in the command of a JVM that has just started. When ctx is
// done, gasm stops reading the files of other users' JVMs. FollowJVM works only on Linux, because on other systems gasm
// can't find out the command and the working directory of a JVM.
func (f *JMHFiles) FollowJVM(ctx context.Context, pid int) {
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
	if p.Trusted() {
		f.follow(command, dir, nil)
		return
	}
	if w, err := p.World(ctx); err == nil { // another user decides where the path leads
		f.follow(command, dir, w)
	}
}

// lastReadTime is how long the last readings of all files may take. There is a limit because a file system may not
// answer.
const lastReadTime = time.Second

// Stop reads the rest of all files, and then stops following them.
func (f *JMHFiles) Stop() {
	defer f.link.stop() // after the files, because the link looks up when the lines in them were sent
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for _, file := range f.byPath {
		file.stop()
	}
	late := time.After(lastReadTime)
	for _, file := range f.byPath {
		select {
		case <-file.done:
		case <-late:
			return
		}
	}
}
