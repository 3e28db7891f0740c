package foreign

import (
	"fmt"
	"io/fs"
	"runtime"

	"golang.org/x/sys/unix"
)

// A Text is an open file of a process in /proc, whose text is read again and again. It is much cheaper than
// Process.Read: each reading is one system call, made by the caller's OS thread. Only one goroutine may use a Text.
type Text struct {
	fd   int
	name string
}

// againTexts has the names of the files of a thread that OpenText can open. Reading these files never waits for the
// process.
var againTexts = map[string]bool{"schedstat": true, "syscall": true, "stat": true}

// OpenText opens a file of a thread: "schedstat", "syscall" or "stat". After the thread has ended, reading the Text
// returns an error, even if another thread has got its id.
func (p *Process) OpenText(tid int, name string) (*Text, error) {
	if !againTexts[name] {
		return nil, fmt.Errorf("%s is not a file that can be read again and again", name)
	}
	path := fmt.Sprintf("task/%d/%s", tid, name)
	fd, err := p.openAt(path, unix.O_RDONLY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, p.gone(&fs.PathError{Op: "open", Path: path, Err: err})
	}
	t := &Text{fd, path}
	runtime.SetFinalizer(t, (*Text).Close)
	return t, nil
}

// Read reads the present text into buf. It returns as much of it as fits.
func (t *Text) Read(buf []byte) ([]byte, error) {
	n, err := unix.Pread(t.fd, buf, 0)
	if err == unix.ESRCH {
		return nil, ErrEnded
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: t.name, Err: err}
	}
	return buf[:n], nil
}

// Close closes the file. A second call does nothing.
func (t *Text) Close() {
	if t.fd >= 0 {
		runtime.SetFinalizer(t, nil)
		unix.Close(t.fd)
		t.fd = -1
	}
}

// ThreadCount returns the number of the process's threads. It is much cheaper than counting the elements of Threads,
// because the kernel reports the number as the link count of the folder of threads (proc_task_getattr in
// fs/proc/base.c).
func (p *Process) ThreadCount() (int, error) {
	s, err := p.stat("task")
	if err != nil || s.Nlink < 2 {
		return 0, ErrEnded
	}
	return int(s.Nlink) - 2, nil
}
