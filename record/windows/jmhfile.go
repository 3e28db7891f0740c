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

// A jmhFile is the file that JMH writes its text to in the place of stdout (its -o). It is
// read while it grows, because the time at which a line comes is that of the iteration.
type jmhFile struct {
	path  string
	world *foreign.World // of the JVM that writes it, if that is another user's; nil for a file of this user's
	see   func(out []byte, monoNanos int64)
	// Before JMH empties the file, it may have the text of an older run: until is how it was
	// found then, zero when there was none, or when JMH has begun to write.
	until   foreign.Info
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

// newJMHFile makes one for the file at a path, of another user's JVM in its World, which the jmhFile closes.
func newJMHFile(path string, w *foreign.World, see func(out []byte, monoNanos int64)) *jmhFile {
	f := &jmhFile{path: path, world: w, see: see, stopped: make(chan struct{}), done: make(chan struct{})}
	if w == nil {
		f.findOld()
	}
	return f
}

// findOld notes what the file has before JMH writes.
func (f *jmhFile) findOld() {
	if file, info, err := f.open(); err == nil {
		f.until = info
		file.Close()
	}
}

// A jmhText is what is read of an open file.
type jmhText interface {
	io.ReaderAt
	io.Closer
}

// open opens the file, if it is there, and is one.
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

// stop has the rest of the file read. done says when that is so.
func (f *jmhFile) stop() { close(f.stopped) }

// pollJMHFile is for where nobody tells of writes. A measured iteration takes far longer.
const pollJMHFile = 20 * time.Millisecond

// maxLastText is how much of a file is read when the watch has ended, in bytes. JMH writes a line at a time, so it is what
// came since the last look; but another program can have made the file larger than there is time for.
const maxLastText = 1 << 20

// run sleeps until something is written.
func (f *jmhFile) run() {
	defer close(f.done)
	if f.world != nil {
		defer f.world.Close()
		f.findOld() // which can take its time, and JMH has not begun
		f.poll()
	} else {
		f.wait()
	}
	f.read(monotonic.Nanos())
}

// poll looks at the file of another user's JVM, of which nobody tells without looking its path up.
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

// wait looks at the file whenever something happens to it.
func (f *jmhFile) wait() {
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
	file, info, err := f.open()
	if err != nil {
		return // it is not there yet, or is no file
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

// readNew shows what comes after the offset.
func (f *jmhFile) readNew(file io.ReaderAt, monoNanos int64) {
	buf := make([]byte, 32<<10)
	for last := 0; last < maxLastText; {
		n, err := file.ReadAt(buf, f.offset)
		if n > 0 {
			f.offset += int64(n)
			f.see(buf[:n], monoNanos)
			f.judge(buf[:n])
		}
		if err != nil || f.state == ofOther { // io.EOF, as a rule; what was read counts
			return
		}
		select {
		case <-f.stopped:
			last += n
		default:
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
