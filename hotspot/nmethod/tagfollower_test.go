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

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/inotify"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A CompilerSet says whose methods are copied. The wrappers of native methods, which no compiler made, are always
// copied.
type CompilerSet int

const (
	C1 CompilerSet = 1 << iota
	C2             // and JVMCI's compilers
)

// has reports whether methods of a compiler are copied. The parameter compiler is the compiler's name in a method's
// tag.
func (s CompilerSet) has(compiler string) bool {
	switch compiler {
	case "":
		return true
	case "c1":
		return s&C1 != 0
	}
	return s&C2 != 0
}

// A tagFollower reads a JVM's log while the JVM writes it, and copies the methods that LogCompilation's tags announce.
// So a test copies each method soon after it was printed.
type tagFollower struct {
	pid        int
	compilers  CompilerSet
	log        *os.File
	copies     *os.File // the text of the copies
	stop, done chan struct{}

	copier   *Copier   // nil before the first method
	forgetAt time.Time // when the copier must forget the names that it has read
	cutLine  []byte    // the start of a line of the log whose end was not read yet
	text     []byte    // copies that were not written yet
	result   tagResult
}

// A tagResult says what became of the methods that were to be copied.
type tagResult struct {
	Copied int
	// Late counts the methods that were gone, alone or with their JVM, before they were copied completely. Missed
	// counts all others that could not be copied, or not with all of their debug info.
	Late, Missed int
	// Why says why the first missed method could not be copied; nil if no method was missed.
	Why error
	// Disk is the error that ended the copying; nil if there was none.
	Disk error
}

// The pauses between two looks at the log. Short pauses lose fewer methods when the JVM exits; long ones use less CPU.
// Each look that finds nothing doubles the pause. After the longest pause, only a write to the log wakes the
// tagFollower, on systems that announce writes.
const shortestPause, longestPause = 4 * time.Millisecond, 16 * time.Millisecond

// newTagFollower opens the files.
func newTagFollower(pid int, compilers CompilerSet, log, copies string) (*tagFollower, error) {
	f := &tagFollower{pid: pid, compilers: compilers, stop: make(chan struct{}), done: make(chan struct{})}
	var err error
	// Another user may have replaced the log that was seen.
	if f.log, _, err = regular.OpenNoLink(log); err != nil {
		return nil, err
	}
	if f.copies, err = os.OpenFile(copies, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600); err != nil {
		f.log.Close()
		return nil, err
	}
	return f, nil
}

// run looks at the log again and again until it is stopped, and then reads it to its end.
func (f *tagFollower) run() {
	defer close(f.done)
	watch := inotify.NextWrite(f.log.Name())
	defer watch.Close()
	buf := make([]byte, 1<<18)
	for pause := shortestPause; ; {
		if n := f.readAll(buf); n > 0 {
			pause = shortestPause
		} else {
			pause = min(longestPause, 2*pause)
		}
		var written <-chan struct{}
		timeout := time.After(pause)
		if pause == longestPause && watch.Arm() {
			if f.readAll(buf) > 0 { // it was written before the watch was armed
				continue
			}
			written, timeout = watch.C, nil
		}
		select {
		case <-f.stop:
			f.readAll(buf)
			return
		case <-written:
		case <-timeout:
		}
	}
}

// readAll reads the log to its present end. It returns the number of bytes that it has read.
func (f *tagFollower) readAll(buf []byte) (n int) {
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

// maxLine is an upper bound for the length of a tag, in bytes. The rest of a longer line is dropped.
const maxLine = 1 << 17

// take processes the lines of a chunk of the log. The chunk may begin and end within a line.
func (f *tagFollower) take(chunk []byte) {
	for {
		end := bytes.IndexByte(chunk, '\n')
		switch {
		case end < 0:
			room := max(0, maxLine-len(f.cutLine))
			f.cutLine = append(f.cutLine, chunk[:min(len(chunk), room)]...)
			return
		case len(f.cutLine) > 0:
			f.takeLine(append(f.cutLine, chunk[:end]...))
			f.cutLine = f.cutLine[:0]
		case chunk[0] == '<':
			f.takeLine(chunk[:end])
		}
		chunk = chunk[end+1:]
	}
}

// takeLine copies the method of a line of the log, if the line is a tag.
func (f *tagFollower) takeLine(line []byte) {
	if !bytes.HasPrefix(line, []byte("<nmethod ")) || f.result.Disk != nil {
		return
	}
	tag, ok := printassembly.ParseInstalled(line)
	if !ok || !f.compilers.has(tag.Compiler) {
		return
	}
	err := f.copyMethod(&tag)
	switch {
	case err == nil:
		f.result.Copied++
	case isGone(err):
		f.result.Late++
	default:
		f.result.Missed++
		if f.result.Why == nil {
			f.result.Why = fmt.Errorf("%s (compile id %d): %w", tag.Name, tag.ID, err)
		}
	}
	if len(f.text) > 1<<20 {
		f.flush()
	}
}

// isGone reports whether a method could not be copied because it, or the JVM, was gone.
func isGone(err error) bool {
	return errors.Is(err, ErrGone) || errors.Is(err, syscall.ESRCH) || errors.Is(err, fs.ErrNotExist)
}

// tagNames is how long names of classes and methods are assumed to be valid. Classes may be unloaded, and others put
// at their addresses, at any time.
const tagNames = 50 * time.Millisecond

// copyMethod copies one method. After a failure to open the JVM, it does not try to open it again.
func (f *tagFollower) copyMethod(tag *printassembly.Installed) error {
	if f.copier == nil {
		if f.result.Missed > 0 {
			return errors.New("the JVM's memory could not be read before")
		}
		if err := f.open(); err != nil {
			return err
		}
	}
	if now := time.Now(); now.After(f.forgetAt) {
		f.copier.Forget()
		f.forgetAt = now.Add(tagNames)
	}
	code, err := f.copier.Copy(tag)
	if isGone(err) {
		return err
	}
	start := len(f.text)
	if err == nil {
		if f.text, err = code.AppendTo(f.text); err == nil {
			return nil
		}
	}
	// The copier may have remembered names of classes that have since been unloaded, or the method may have been
	// replaced while its debug info was read. If the second attempt fails too, what was copied of the method stays in
	// the text.
	f.copier.Forget()
	if code, err = f.copier.Copy(tag); err == nil {
		f.text, err = code.AppendTo(f.text[:start])
	}
	return err
}

// open opens the JVM and makes the copier.
func (f *tagFollower) open() error {
	vm, err := vmstructs.Open(f.pid)
	if err != nil {
		return err
	}
	if f.copier, err = NewCopier(vm); err != nil {
		return err
	}
	f.copier.SetNames(Names{Function: FunctionNames(f.pid)})
	return nil
}

// flush writes the text into the file of copies.
func (f *tagFollower) flush() {
	if len(f.text) == 0 || f.result.Disk != nil {
		return
	}
	if _, err := f.copies.Write(f.text); err != nil {
		f.result.Disk = fmt.Errorf("writing the copied code: %w", err)
	}
	f.text = f.text[:0]
}

// Stop ends the tagFollower after it has read the log to its end.
func (f *tagFollower) Stop() tagResult {
	close(f.stop)
	<-f.done
	f.log.Close()
	return f.result
}

// appendTo appends the copies to the log when the JVM does not write to the log any more. It must be called once,
// after Stop.
func (f *tagFollower) appendTo(log string) error {
	defer f.copies.Close()
	if size, err := f.copies.Seek(0, io.SeekEnd); size == 0 {
		return err
	}
	to, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, err = to.WriteString("\n<writer thread='gasm'/>\n"); err == nil {
		if _, err = f.copies.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(to, f.copies)
		}
	}
	if err != nil {
		return fmt.Errorf("appending the copied code: %w", err)
	}
	return to.Close()
}
