package windows

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/inotify"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// A jmhFile is the file to which JMH writes its text instead of stdout (JMH's -o). gasm reads the file while it grows,
// because the times at which its lines arrive are the times at which iterations begin and end.
type jmhFile struct {
	path  string
	world *foreign.World // of the JVM that writes the file; nil if the JVM belongs to gasm's own user
	see   func(out []byte, monoNanos int64)
	// until is the state of the file before JMH began to write to it. In this state, the file has the text of an older
	// run, which JMH will replace. So nothing is read until the state changes. Then until is set to its zero value,
	// which it also has if there was no file.
	until   foreign.Info
	offset  int64  // number of bytes of the file that were read so far
	head    []byte // the text that was read so far; no longer needed once JMH's mark was found
	state   jmhFileState
	stopped chan struct{}
	done    chan struct{}
}

// A jmhFileState says whether the file that an option -o names has JMH's text. It may have the text of another program,
// because JMH is not the only program with such an option.
type jmhFileState int

const (
	unknownFile jmhFileState = iota
	ofJMH
	ofOther
)

// jmhMark is a text in one of the first lines that JMH writes. There may be warnings of the JVM before it, but no more
// than maxHead bytes.
const jmhMark, maxHead = "# JMH version: ", 64 << 10

// newJMHFile returns a jmhFile for the file at a path. If the JVM belongs to another user, w is the JVM's World, which
// opens files with the rights of that user, and the jmhFile will close w. Otherwise w is nil.
func newJMHFile(path string, w *foreign.World, see func(out []byte, monoNanos int64)) *jmhFile {
	f := &jmhFile{path: path, world: w, see: see, stopped: make(chan struct{}), done: make(chan struct{})}
	if w == nil {
		f.findOld()
	}
	return f
}

// findOld notes the state of the file before JMH begins to write.
func (f *jmhFile) findOld() {
	if file, info, err := f.open(); err == nil {
		f.until = info
		file.Close()
	}
}

// A jmhText is a file with JMH's text that is open for reading.
type jmhText interface {
	io.ReaderAt
	io.Closer
}

// open opens the file. It returns an error if the file does not exist or is not a regular file.
func (f *jmhFile) open() (jmhText, foreign.Info, error) {
	if f.world != nil {
		file, err := f.world.Open(f.path)
		if err != nil {
			return nil, foreign.Info{}, err
		}
		return file, file.Info(), nil
	}
	file, size, err := regular.Open(f.path)
	if err != nil {
		return nil, foreign.Info{}, err
	}
	info := foreign.Info{Regular: true, Size: size}
	if now, err := file.Stat(); err == nil {
		info.ChangedNanos = now.ModTime().UnixNano()
	}
	return file, info, nil
}

// jmhOutput returns the value of JMH's option -o in a command, or "" if the command does not have the option. JMH's
// parser (joptsimple) accepts "-o FILE", "-o=FILE", "-oFILE", "--o FILE" and "--o=FILE".
func jmhOutput(command []string) (path string) {
	if len(command) == 0 {
		return ""
	}
	for i, word := range command[1:] {
		option, value, inWord := strings.Cut(word, "=")
		switch {
		case option != "-o" && option != "--o":
			// "-op" is short for "-opi", JMH's option for the number of operations in one invocation.
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

// stop makes run read the rest of the file and return. run closes f.done when it returns.
func (f *jmhFile) stop() { close(f.stopped) }

// pollJMHFile is the time between two readings of the file if the kernel does not report writes. It is far shorter than
// a measured iteration.
const pollJMHFile = 20 * time.Millisecond

// maxLastText is the maximum number of bytes of a file that are read after stop. JMH writes one line at a time, so
// usually there is little to read. The limit matters if the file belongs to another program that writes faster than
// gasm reads.
const maxLastText = 1 << 20

// run reads the file while it grows, until stop is called. Then it reads the rest.
func (f *jmhFile) run() {
	defer close(f.done)
	if f.world != nil {
		defer f.world.Close()
		f.findOld() // this may take some time, but JMH has not begun yet
		f.poll()
	} else {
		f.wait()
	}
	f.read(monotonic.Nanos())
}

// poll reads the file of another user's JVM from time to time. It can't use inotify, which would look up the path with
// the rights of gasm's own user.
func (f *jmhFile) poll() {
	for {
		f.read(monotonic.Nanos())
		select {
		case <-f.stopped:
			return
		case <-time.After(pollJMHFile):
		}
	}
}

// wait reads the file whenever something happens to it.
func (f *jmhFile) wait() {
	folder := inotify.NewFiles(filepath.Dir(f.path))
	defer folder.Close()
	writes := inotify.NextWrite(f.path)
	defer writes.Close()
	for {
		armed := writes.Arm() // before reading, so that no later write is missed
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

// read passes the new text of the file to f.see.
func (f *jmhFile) read(monoNanos int64) {
	if f.state == ofOther {
		return
	}
	file, info, err := f.open()
	if err != nil {
		return // the file is not there yet, or is not a regular file
	}
	defer file.Close()
	if info == f.until {
		return
	}
	f.until = foreign.Info{}
	if info.Size < f.offset { // JMH has emptied it
		f.offset, f.head, f.state = 0, nil, unknownFile
	}
	f.readNew(file, monoNanos)
}

// readNew passes the text after f.offset to f.see.
func (f *jmhFile) readNew(file io.ReaderAt, monoNanos int64) {
	buf := make([]byte, 32<<10)
	for last := 0; last < maxLastText; {
		n, err := file.ReadAt(buf, f.offset)
		if n > 0 {
			f.offset += int64(n)
			f.see(buf[:n], monoNanos)
			f.judge(buf[:n])
		}
		if err != nil || f.state == ofOther { // the error is usually io.EOF; the text before it counts
			return
		}
		select {
		case <-f.stopped:
			last += n
		default:
		}
	}
}

// judge decides whether the file is JMH's, by the text that was read so far.
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
