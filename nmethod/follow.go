package nmethod

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A Follower reads a JVM's log as it is written and copies methods that it
// tells of.
type Follower struct {
	pid        int
	what       What
	log, spool *os.File
	stop, done chan struct{}

	jvm    *JVM      // nil before its first method
	forget time.Time // when the JVM's names are forgotten again
	rest   []byte    // of the log, a line without its end
	text   []byte    // of copies, to be written
	result Result
}

// What says which methods are copied: those of some compilers, and in any case the
// wrappers of native methods.
type What int

const (
	C1 What = 1 << iota
	C2      // and JVMCI's compilers
)

func (w What) has(compiler string) bool {
	switch compiler {
	case "":
		return true
	case "c1":
		return w&C1 != 0
	}
	return w&C2 != 0
}

// A Result is what became of the methods that were to be copied.
type Result struct {
	Copied int
	// Late counts those that were gone, alone or with their JVM, Missed all others
	// that could not be copied.
	Late, Missed int
	// Why is the first reason for which one was missed, nil without one.
	Why error
	// Disk is the error that ended the copying, nil without one.
	Disk error
}

// What is copied soon is not lost when the JVM ends; what is looked at seldom
// costs little. After some looks in vain only a write wakes the Follower.
const shortestPause, longestPause = 4 * time.Millisecond, 16 * time.Millisecond

// Follow begins to follow the log of a process. The copies go into a file, which
// the caller names and removes.
func Follow(pid int, what What, log, spool string) (*Follower, error) {
	f := &Follower{pid: pid, what: what, stop: make(chan struct{}), done: make(chan struct{})}
	var err error
	if f.log, err = os.Open(log); err != nil {
		return nil, err
	}
	if f.spool, err = os.OpenFile(spool, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600); err != nil {
		f.log.Close()
		return nil, err
	}
	go f.run()
	return f, nil
}

// run reads until it is stopped, and then to the end.
func (f *Follower) run() {
	defer close(f.done)
	writes := watchWrites(f.log.Name())
	defer writes.close()
	buf := make([]byte, 1<<18)
	for pause := shortestPause; ; {
		if n := f.readAll(buf); n > 0 {
			pause = shortestPause
		} else {
			pause = min(longestPause, 2*pause)
		}
		var written <-chan struct{}
		wake := time.After(pause)
		if pause == longestPause && writes.arm() {
			if f.readAll(buf) > 0 { // before the watch was there
				continue
			}
			written, wake = writes.written, nil
		}
		select {
		case <-f.stop:
			f.readAll(buf)
			return
		case <-written:
		case <-wake:
		}
	}
}

// readAll reads what there is of the log; n is how many bytes.
func (f *Follower) readAll(buf []byte) (n int) {
	for {
		got, err := f.log.Read(buf)
		n += got
		f.take(buf[:got])
		if got == 0 || err != nil {
			f.flush()
			return n
		}
	}
}

// take looks at a piece of the log, which may begin and end within lines.
func (f *Follower) take(piece []byte) {
	for {
		end := bytes.IndexByte(piece, '\n')
		switch {
		case end < 0:
			f.rest = append(f.rest, piece[:min(len(piece), max(0, maxLine-len(f.rest)))]...)
			return
		case len(f.rest) > 0:
			f.line(append(f.rest, piece[:end]...))
			f.rest = f.rest[:0]
		case piece[0] == '<':
			f.line(piece[:end])
		}
		piece = piece[end+1:]
	}
}

// keepNames is how long names of classes and methods are taken for those at their
// addresses. A class that is unloaded may make room for another one at once.
const keepNames = 50 * time.Millisecond

// maxLine is more than any tag of a method takes; of a longer line the rest is
// left out.
const maxLine = 1 << 17

// line looks at a line of the log.
func (f *Follower) line(line []byte) {
	if !bytes.HasPrefix(line, []byte("<nmethod ")) || f.result.Disk != nil {
		return
	}
	tag, ok := printassembly.ParseInstalled(line)
	if !ok || !f.what.has(tag.Compiler) {
		return
	}
	err := f.copy(&tag)
	switch {
	case err == nil:
		f.result.Copied++
	case errors.Is(err, errGone) || errors.Is(err, syscall.ESRCH) || errors.Is(err, fs.ErrNotExist):
		f.result.Late++
	default:
		f.result.Missed++
		if f.result.Why == nil {
			f.result.Why = fmt.Errorf("%s: %w", tag.Name, err)
		}
	}
	if len(f.text) > 1<<20 {
		f.flush()
	}
}

// copy copies one method. Once a JVM can't be read, it is not tried again.
func (f *Follower) copy(tag *printassembly.Installed) error {
	if f.jvm == nil {
		if f.result.Missed > 0 {
			return errors.New("the JVM could not be read before")
		}
		var err error
		if f.jvm, err = Open(f.pid); err != nil {
			return err
		}
	}
	if now := time.Now(); now.After(f.forget) {
		f.jvm.Forget()
		f.forget = now.Add(keepNames)
	}
	code, err := f.jvm.Copy(tag)
	if err != nil {
		return err
	}
	from := len(f.text)
	if f.text, err = code.AppendTo(f.text); err == nil {
		return nil
	}
	// Perhaps classes were unloaded, or the method itself.
	f.jvm.Forget()
	if code, err = f.jvm.Copy(tag); err == nil {
		f.text, err = code.AppendTo(f.text[:from])
	}
	return err
}

// flush writes what was copied into the file.
func (f *Follower) flush() {
	if len(f.text) == 0 || f.result.Disk != nil {
		return
	}
	if _, err := f.spool.Write(f.text); err != nil {
		f.result.Disk = fmt.Errorf("writing the copied code: %w", err)
	}
	f.text = f.text[:0]
}

// Stop ends the following when the log has been read to its end.
func (f *Follower) Stop() Result {
	close(f.stop)
	<-f.done
	f.log.Close()
	return f.result
}

// AppendTo appends the copies to a log that nobody writes any more. It is for
// after Stop, and ends the Follower.
func (f *Follower) AppendTo(log string) error {
	defer f.spool.Close()
	if f.result.Copied == 0 {
		return nil
	}
	to, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err = to.WriteString("\n<writer thread='gasm'/>\n"); err == nil {
		if _, err = f.spool.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(to, f.spool)
		}
	}
	if err != nil {
		return fmt.Errorf("appending the copied code: %w", err)
	}
	return to.Close()
}
