package record

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/inotify"
	"github.com/gasm-profiler/gasm/internal/monotonic"
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
	offset  int64  // what was seen
	head    []byte // of what was seen, until JMH's mark is found in it
	state   jmhFileState
	stopped chan struct{}
	done    chan struct{}
}

// jmhFileState says whether a file has JMH's text. Other programs have an option -o too.
type jmhFileState int

const (
	unknownFile jmhFileState = iota
	ofJMH
	ofOther
)

// jmhMark is in JMH's first lines. Warnings of the JVM may be in front of it, but not maxHead bytes.
const jmhMark, maxHead = "# JMH version: ", 64 << 10

func newJMHFile(path string, see func(out []byte, monoNanos int64)) *jmhFile {
	f := &jmhFile{path: path, see: see, stopped: make(chan struct{}), done: make(chan struct{})}
	f.until, _ = os.Stat(path) // nil where there is none
	return f
}

// jmhOutput finds the value of JMH's option -o among the words of a command; "" without
// one. JMH's parser (joptsimple) takes "-o FILE", "-o=FILE", "-oFILE", and the same with two
// dashes but for the last.
func jmhOutput(command []string) (path string) {
	if len(command) == 0 {
		return ""
	}
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

// stop reads the rest of the file, and ends.
func (f *jmhFile) stop() {
	close(f.stopped)
	<-f.done
}

// pollJMHFile is for where nobody tells of writes. A measured iteration takes far longer.
const pollJMHFile = 20 * time.Millisecond

// run sleeps until something is written.
func (f *jmhFile) run() {
	defer close(f.done)
	defer func() { f.read(monotonic.Nanos()) }()
	folder := inotify.NewFiles(filepath.Dir(f.path))
	defer folder.Close()
	writes := inotify.NextWrite(f.path)
	defer writes.Close()
	for {
		armed := writes.Arm() // before the look, so that nothing comes in between
		f.read(monotonic.Nanos())
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
	if f.state == ofOther {
		return
	}
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
		f.offset, f.head, f.state = 0, nil, unknownFile
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := file.ReadAt(buf, f.offset)
		if n > 0 {
			f.offset += int64(n)
			f.see(buf[:n], monoNanos)
			f.judge(buf[:n])
		}
		if err != nil || f.state == ofOther { // io.EOF, as a rule; what was read counts
			return
		}
	}
}

// judge finds out whether the file is JMH's.
func (f *jmhFile) judge(seen []byte) {
	if f.state != unknownFile {
		return
	}
	f.head = append(f.head, seen...)
	switch {
	case bytes.Contains(f.head, []byte(jmhMark)):
		f.state, f.head = ofJMH, nil
	case len(f.head) > maxHead:
		f.state, f.head = ofOther, nil
	}
}
