// Package external runs a sampler that is a program of its own: perf, DTrace or xctrace. It starts the
// program, keeps the beginning of what the program prints on stderr, asks it to end, and kills it if it
// does not. What the program samples, and what it prints, is known to the sampler's own package.
//
// Some traps:
//
//   - A sampler has a process group of its own, because Ctrl-C on the terminal must not end it before the command.
//   - When gasm is killed, a sampler that [Start] has started gets SIGINT (orphan_linux.go), so that it
//     does not fill the disk.
//   - A sampler that somebody has stopped (SIGSTOP) does not handle a signal to end, so [Process.Stop] wakes it up.
package external

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/internal/tool"
)

// A Process is an external sampler. It has a process group of its own, so that
// Ctrl-C on the terminal does not reach it. It has no stdin, and its messages are in
// English.
type Process struct {
	Cmd    *exec.Cmd
	Stderr Buffer
	Done   chan struct{}      // closed when the process has ended and Cmd.Wait has returned
	kill   context.CancelFunc // kills the group
	// Started is called when the process runs, After when it has ended. Both are called if it could not
	// be started, and both may be nil.
	Started, After func()
}

// SlowEnd is how long a sampler may take to end until the user is told.
const SlowEnd = 2 * time.Second

// killedEnd is how long a process may take to end after SIGKILL. A process that waits for a broken disk
// never ends.
const killedEnd = 5 * time.Second

// Start starts the command with the files as its descriptors 3, 4, …. The end of ctx kills it,
// and it ends when gasm is killed.
func Start(ctx context.Context, path string, args []string, files ...*os.File) (*Process, error) {
	p := New(ctx, path, args)
	endAsOrphan(p.Cmd.SysProcAttr)
	p.Cmd.ExtraFiles = files
	if err := p.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// New prepares a command that [Process.Start] runs. The end of ctx kills it.
func New(ctx context.Context, path string, args []string) *Process {
	ctx, kill := context.WithCancel(ctx)
	p := &Process{kill: kill, Done: make(chan struct{})}
	p.Cmd = tool.Command(ctx, path, args...)
	p.Cmd.Stderr = &p.Stderr
	return p
}

// Start runs the command, which may have got files and callbacks since [New].
func (p *Process) Start() error {
	started := make(chan error)
	go func() {
		// The thread that starts the process must not end before it: endAsOrphan.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.Cmd.Start()
		started <- err
		if err != nil {
			return
		}
		// p.Cmd.ProcessState says how it ended.
		_ = p.Cmd.Wait()
		p.end()
		close(p.Done)
	}()
	err := <-started
	if p.Started != nil {
		p.Started()
	}
	if err != nil {
		p.end()
	}
	return err
}

func (p *Process) end() {
	p.kill()
	if p.After != nil {
		p.After()
	}
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}

// Stop asks the process to end and waits until it has. asked is false if it had already ended. If the
// process has not ended after the time some, Stop calls slow. At the limit it kills the process and
// returns false for inTime.
func (p *Process) Stop(sig os.Signal, some, limit time.Duration, slow func()) (asked, inTime bool) {
	asked = !p.Ended() && p.Cmd.Process.Signal(sig) == nil
	if asked {
		p.Wake()
	}
	if AwaitDone(p.Done, limit, some, slow) {
		return asked, true
	}
	p.Abort()
	return asked, false
}

// Kill kills the process and its children.
func (p *Process) Kill() { p.kill() }

// Abort kills the process, and waits until it has ended, but no longer than killedEnd.
func (p *Process) Abort() {
	p.kill()
	AwaitDone(p.Done, killedEnd, killedEnd, nil)
}

// Wake lets the process and its children go on if somebody has stopped them (SIGSTOP, SIGTSTP): a
// stopped process does not handle a signal to end.
func (p *Process) Wake() { _ = syscall.Kill(-p.Cmd.Process.Pid, syscall.SIGCONT) }

// TellSlow tells the user that a tool has not ended for the time some, and what happens then. say may be
// nil.
func TellSlow(say func(message string), tool string, some time.Duration, then string) {
	if say != nil {
		say(fmt.Sprintf("%s has not ended yet, %s after it was asked to; %s", tool, some, then))
	}
}

// AwaitDone waits until done is closed. After the time some it calls slow, which may be nil. At the
// limit it gives up and returns false.
func AwaitDone(done <-chan struct{}, limit, some time.Duration, slow func()) bool {
	giveUp, tell := time.NewTimer(limit), time.NewTimer(some)
	defer giveUp.Stop()
	defer tell.Stop()
	for {
		select {
		case <-done:
			return true
		case <-giveUp.C:
			return false
		case <-tell.C:
			if slow != nil {
				slow()
			}
		}
	}
}

// Status returns how the process ended. Call it after Done is closed.
func (p *Process) Status() syscall.WaitStatus {
	return p.Cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// A Buffer keeps the first 64 kB written to it. It may be read while it is written to.
type Buffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *Buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := 64<<10 - len(b.text)
	b.text = append(b.text, text[:min(room, len(text))]...)
	return len(text), nil
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
