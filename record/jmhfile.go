package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/inotify"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// A jmhFile is the file that JMH writes its text to in the place of stdout (its -o). It is
// read while it grows, because the time at which a line comes is that of the iteration.
type jmhFile struct {
	path string
	see  func(out []byte, monoNanos int64)
	// Before JMH empties the file, it may have the text of an older run: until is how it was
	// found then, nil when there was none, or when JMH has begun to write.
	until   fs.FileInfo
	offset  int64 // what was seen
	stopped chan struct{}
	done    chan struct{}
}

// followJMHFile begins to follow the file that JMH's -o in the command names. It is nil
// without one.
func followJMHFile(command []string, see func(out []byte, monoNanos int64)) *jmhFile {
	path := jmhOutput(command)
	if path == "" {
		return nil
	}
	f := newJMHFile(path, see)
	go f.run()
	return f
}

func newJMHFile(path string, see func(out []byte, monoNanos int64)) *jmhFile {
	f := &jmhFile{path: path, see: see, stopped: make(chan struct{}), done: make(chan struct{})}
	f.until, _ = os.Stat(path) // nil where there is none
	return f
}

// jmhOutput finds the value of JMH's option -o among the words of a command; "" without
// one. JMH's parser (joptsimple) takes "-o FILE", "-o=FILE", "-oFILE", and the same with two
// dashes but for the last. The command runs in this process's working directory, so a path
// that is relative is relative to that.
func jmhOutput(command []string) (path string) {
	for i, word := range command[1:] {
		option, value, inWord := strings.Cut(word, "=")
		switch {
		case option != "-o" && option != "--o":
			// "-op" is short for "-opi", how many operations there are in one invocation.
			if attached, ok := strings.CutPrefix(word, "-o"); ok && path == "" && option != "-opi" && option != "-op" {
				path = attached
			}
		case inWord:
			path = value
		case i+2 < len(command):
			path = command[i+2]
		}
	}
	return path
}

// stop reads the rest of the file, and ends. f may be nil.
func (f *jmhFile) stop() {
	if f == nil {
		return
	}
	close(f.stopped)
	<-f.done
}

// pollJMHFile is for where nobody tells of writes. A measured iteration takes far longer.
const pollJMHFile = 20 * time.Millisecond

// run sleeps until something is written.
func (f *jmhFile) run() {
	defer close(f.done)
	defer func() { f.read(capture.MonoNanos()) }()
	folder := inotify.NewFiles(filepath.Dir(f.path))
	defer folder.Close()
	writes := inotify.NextWrite(f.path)
	defer writes.Close()
	for {
		armed := writes.Arm() // before the look, so that nothing comes in between
		f.read(capture.MonoNanos())
		var poll <-chan time.Time
		if _, err := os.Lstat(f.path); !armed && !errors.Is(err, fs.ErrNotExist) {
			poll = time.After(pollJMHFile)
		}
		select {
		case <-f.stopped:
			return
		case <-folder.C:
		case <-writes.C:
		case <-poll:
		}
	}
}

// read shows what is new in the file at a time.
func (f *jmhFile) read(monoNanos int64) {
	file, size, err := regular.Open(f.path)
	if err != nil {
		return // it is not there yet, or is no file
	}
	defer file.Close()
	if f.until != nil {
		now, err := file.Stat()
		if err != nil || now.Size() == f.until.Size() && now.ModTime().Equal(f.until.ModTime()) {
			return
		}
		f.until = nil
	}
	if size < f.offset { // JMH has emptied it
		f.offset = 0
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := file.ReadAt(buf, f.offset)
		if n > 0 {
			f.offset += int64(n)
			f.see(buf[:n], monoNanos)
		}
		if err != nil { // io.EOF, as a rule; what was read counts
			return
		}
	}
}
