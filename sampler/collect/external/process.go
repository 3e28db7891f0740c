// Package external runs a sampler that is a program of its own: perf, DTrace or xctrace. It starts
// the program and keeps the beginning of what the program prints on stderr. Later it asks the
// program to end, and kills it if it does not. How to call the program, and how to read what it
// prints, is up to the package of each sampler.
//
// Some traps:
//
//   - A sampler has a process group of its own, because Ctrl-C on the terminal must not end the
//     sampler before the command has ended.
//   - When gasm is killed, a sampler that [Start] has started gets SIGINT (orphan_linux.go), so that it
//     does not fill the disk.
//   - If somebody has stopped a sampler (SIGSTOP), it does not react when it is asked to end. So
//     [Process.Stop] wakes it up.
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

// A Process is an external sampler. It has a process group of its own, so that Ctrl-C on the terminal does not reach
// it. It has no stdin. It prints its messages in English, whatever the user's language is.
type Process struct {
	Cmd    *exec.Cmd
	Stderr Buffer
	Done   chan struct{}      // closed when the process has ended and Cmd.Wait has returned
	kill   context.CancelFunc // kills the process group
	// Started is called when the process was started. After is called when it has ended. If the process can't be
	// started, both are called as well. Both may be nil.
	Started, After func()
}

// SlowEnd is the time after which the user is told that a sampler has not ended yet.
const SlowEnd = 2 * time.Second

// killedEnd is how long gasm waits for the end of a process after SIGKILL. There is a limit because a process that
// waits for a broken disk does not end.
const killedEnd = 5 * time.Second

// Start starts a command. The files become its descriptors 3, 4 and so on. The command is killed
// when ctx is done. On Linux, the command gets SIGINT when gasm is killed.
func Start(ctx context.Context, path string, args []string, files ...*os.File) (*Process, error) {
	p := New(ctx, path, args)
	endAsOrphan(p.Cmd.SysProcAttr)
	p.Cmd.ExtraFiles = files
	if err := p.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// New prepares a command. [Process.Start] then starts it. The command is killed when ctx is done.
func New(ctx context.Context, path string, args []string) *Process {
	ctx, kill := context.WithCancel(ctx)
	p := &Process{kill: kill, Done: make(chan struct{})}
	p.Cmd = tool.Command(ctx, path, args...)
	p.Cmd.Stderr = &p.Stderr
	return p
}

// Start starts the command. Before this call, the caller may set the files of p.Cmd and the callbacks Started and
// After.
func (p *Process) Start() error {
	started := make(chan error)
	go func() {
		// The thread that starts the process must not end before the process does: see endAsOrphan.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.Cmd.Start()
		started <- err
		if err != nil {
			return
		}
		// The error is not needed, because p.Cmd.ProcessState says how the process ended.
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

// Stop sends the signal sig to the process, which asks it to end, and waits until it has ended. asked is false if the
// process had already ended. If the process has not ended after the duration some, Stop calls slow(), unless slow is
// nil. If it has not ended after the duration limit, Stop kills it, and inTime is false.
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

// Wake lets the process and its children continue if somebody has stopped them (SIGSTOP, SIGTSTP). A stopped process
// does not handle the signal to end.
func (p *Process) Wake() { _ = syscall.Kill(-p.Cmd.Process.Pid, syscall.SIGCONT) }

// TellSlow tells the user that a tool has not ended yet: "dtrace has not ended yet, 2s after it was asked to; …". The
// parameter then is the text after the semicolon, which says what will happen next. If say is nil, TellSlow does
// nothing.
func TellSlow(say func(message string), tool string, some time.Duration, then string) {
	if say != nil {
		say(fmt.Sprintf("%s has not ended yet, %s after it was asked to; %s", tool, some, then))
	}
}

// AwaitDone waits until done is closed, and returns true. If that takes longer than the duration some, it calls slow(),
// unless slow is nil. If it takes longer than the duration limit, AwaitDone returns false.
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

// A Buffer keeps the first 64 kB that are written to it, and drops the rest. It may be read while another goroutine
// writes to it.
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
