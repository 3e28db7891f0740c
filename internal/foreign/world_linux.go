package foreign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A World is the file system that a process sees, accessed as the process's user (see the package comment). It remains
// usable after the process has ended. Several goroutines may use a World and its files and folders at once; the calls
// run one after another.
//
// A World is made by Process.World or OwnWorld for one bounded piece of work, and must be closed at its end. That is
// why a World holds a context: when the context is done, all calls of the World and of its files and folders fail.
type World struct {
	ctx     context.Context
	process *Process // nil for gasm's own file system
	pid     int      // id of the process; 0 for gasm's own file system
	trusted bool     // gasm trusts those who can mount file systems in this World
	user    User
	root    int // descriptor of the root folder
	jobs    chan func()
	quit    chan struct{}
	closed  sync.Once
	hangs   atomic.Int32 // number of calls that took too long and are still running
	unused  unused
}

// unused holds descriptors that the World's thread closes after its current call. If a descriptor were closed during
// that call, the call could use its number after the kernel has given the number to another file.
type unused struct {
	sync.Mutex
	fds   []int
	ended bool // the thread has ended
}

// add queues a descriptor to be closed. If the thread has ended, it closes the descriptor at once.
func (u *unused) add(fd int) {
	u.Lock()
	defer u.Unlock()
	if u.ended {
		unix.Close(fd)
		return
	}
	u.fds = append(u.fds, fd)
}

// close closes the queued descriptors. The parameter last is true if the World's thread is about to end. The method add
// then closes all further descriptors at once.
func (u *unused) close(last bool) {
	u.Lock()
	fds := u.fds
	u.fds, u.ended = nil, last
	u.Unlock()
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// callTime is the time limit for one call. Even a busy disk answers within a second.
const callTime = 5 * time.Second

// World returns the World of the process. Its calls fail once ctx is done.
func (p *Process) World(ctx context.Context) (*World, error) {
	before, err := p.Status()
	if err != nil {
		return nil, err
	}
	root, err := p.openAt("root", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil && p.Ended() { // an ended process that was not waited for has no root folder
		return nil, ErrEnded
	}
	if err != nil {
		return nil, fmt.Errorf("its files can't be looked at: %w", err)
	}
	// Since its status was first read, the process may have started a program that runs as another user, such as su.
	after, err := p.Status()
	if err == nil && !after.same(before.User) {
		err = errors.New("its user has changed")
	}
	if err == nil && p.Ended() {
		err = ErrEnded
	}
	if err != nil {
		unix.Close(root)
		return nil, err
	}
	return newWorld(&World{ctx: ctx, process: p, pid: p.pid, trusted: p.Trusted(), user: after.User, root: root})
}

// OwnWorld returns a World that has gasm's own file system, and accesses it as another user.
func OwnWorld(ctx context.Context, u User) (*World, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	// As root, gasm must not trust the file systems that other users have mounted.
	return newWorld(&World{ctx: ctx, trusted: os.Geteuid() != 0 && u.UID == os.Geteuid(), user: u, root: root})
}

// newWorld starts the thread of a World. If that fails, it closes the root folder.
func newWorld(w *World) (*World, error) {
	w.jobs, w.quit = make(chan func()), make(chan struct{})
	began := make(chan error, 1)
	go offFirstThread(func() {
		err := w.user.become(forFiles)
		began <- err
		if err == nil {
			w.work()
		}
	})
	if err := <-began; err != nil {
		unix.Close(w.root)
		return nil, err
	}
	return w, nil
}

// work runs the calls that it receives from jobs, until Close.
func (w *World) work() {
	defer w.unused.close(true)
	for {
		select {
		case job := <-w.jobs:
			job()
		case <-w.quit:
			return
		}
		w.unused.close(false)
	}
}

// Close ends the thread and closes the root folder. Folders and files must be closed separately.
func (w *World) Close() {
	w.closed.Do(func() {
		w.closeDescriptor(w.root)
		close(w.quit)
	})
}

// mayWrite returns an error if gasm can't become the process's user, because new files would then belong to gasm's
// user.
func (w *World) mayWrite() error {
	if w.user.isOther() {
		return errOther()
	}
	return nil
}

// User returns the user of the process. The files are accessed with this user's rights, unless gasm can't become the
// user; see the package comment.
func (w *World) User() User { return w.user }

// Err returns nil as long as files can be accessed. When the World's context is done, Err returns the context's cause.
func (w *World) Err() error { return context.Cause(w.ctx) }

// closeTime is the time limit for closing a descriptor. Closing can take long because the kernel may have to ask a file
// system in user space.
const closeTime = 500 * time.Millisecond

// closeDescriptor makes the World's thread close a descriptor. It waits at most closeTime, and not at all if the thread
// is known to be blocked in a call.
func (w *World) closeDescriptor(fd int) {
	w.unused.add(fd)
	if w.hangs.Load() > 0 {
		return
	}
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	done := make(chan struct{})
	select {
	case w.jobs <- func() {
		w.unused.close(false)
		close(done)
	}:
	case <-w.quit:
		return
	case <-timer.C:
		return
	}
	select {
	case <-done:
	case <-timer.C:
		w.hang(func() { <-done })
	}
}

// hang makes the World's calls fail at once while f runs. f must return only after the call that takes too long has
// ended.
func (w *World) hang(f func()) {
	w.hangs.Add(1)
	go func() {
		f()
		w.hangs.Add(-1)
	}()
}

// errClosed is the error of a call after Close.
var errClosed = errors.New("the file system of the process is not in use any more")

// errHangs is the error of a call that has not returned in time, and of all later calls until that call returns.
var errHangs = fmt.Errorf("its file system does not answer: %w", ErrLate)

// call runs f on the World's thread and returns its result. If f takes too long or the context is done, the result is
// an error, but f continues to run. If f succeeds later, undo(result) is called, unless undo is nil. Because f may
// outlive the call, it must not share memory with the caller.
func call[T any](w *World, f func() (T, error), undo func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	switch {
	case w.ctx.Err() != nil:
		return none, context.Cause(w.ctx)
	case w.hangs.Load() > 0:
		return none, errHangs
	}
	timer := time.NewTimer(callTime)
	defer timer.Stop()
	done := make(chan result, 1)
	select {
	case w.jobs <- func() {
		value, err := f()
		done <- result{value, err}
	}:
	case <-w.quit:
		return none, errClosed
	case <-w.ctx.Done():
		return none, context.Cause(w.ctx)
	case <-timer.C:
		return none, errHangs
	}
	var why error
	select {
	case r := <-done:
		return r.value, r.err
	case <-w.ctx.Done():
		why = context.Cause(w.ctx)
	case <-timer.C:
		why = errHangs
	}
	w.hang(func() {
		if r := <-done; r.err == nil && undo != nil {
			undo(r.value)
		}
	})
	return none, why
}

// do is like the function call, but for an f that returns only an error.
func (w *World) do(f func() error) error {
	_, err := call(w, func() (struct{}, error) { return struct{}{}, f() }, nil)
	return err
}
