package sampler

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A process is an external sampler. It has a process group of its own, so that
// Ctrl-C on the terminal does not reach it. It has no stdin, and its messages are in
// English.
type process struct {
	cmd    *exec.Cmd
	stderr cappedBuffer
	kill   context.CancelFunc // kills the group
	done   chan struct{}      // closed when the process has ended and cmd.Wait has returned
}

// startProcess starts the command with the files as its descriptors 3, 4, ….
// The end of ctx kills it.
func startProcess(ctx context.Context, path string, args []string, files ...*os.File) (*process, error) {
	p := newProcess(ctx, path, args)
	p.cmd.ExtraFiles = files
	if err := p.start(); err != nil {
		return nil, err
	}
	return p, nil
}

// newProcess prepares a command that start runs. The end of ctx kills it.
func newProcess(ctx context.Context, path string, args []string) *process {
	ctx, kill := context.WithCancel(ctx)
	p := &process{kill: kill, done: make(chan struct{})}
	p.cmd = toolCommand(ctx, path, args)
	p.cmd.Stderr = &p.stderr
	return p
}

func (p *process) start() error {
	if err := p.cmd.Start(); err != nil {
		p.kill()
		return err
	}
	go func() {
		// p.cmd.ProcessState tells how it ended.
		_ = p.cmd.Wait()
		p.kill()
		close(p.done)
	}()
	return nil
}

// toolCommand is a command that is killed with its children at the end of ctx.
func toolCommand(ctx context.Context, path string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	// If the tool leaves a child behind that has its stderr open, Wait does not wait
	// for the child.
	cmd.WaitDelay = time.Second
	return cmd
}

// ended tells whether the process has ended by itself.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop asks the process to end and waits until it has. It returns false when the
// process had ended before.
func (p *process) stop(sig os.Signal) bool {
	asked := !p.ended() && p.cmd.Process.Signal(sig) == nil
	<-p.done
	return asked
}

// status tells how the process ended. Call it after done is closed.
func (p *process) status() syscall.WaitStatus {
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// A cappedBuffer keeps the first 64 kB written to it. It may be read while it is
// written.
type cappedBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *cappedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := 64<<10 - len(b.text)
	b.text = append(b.text, text[:min(room, len(text))]...)
	return len(text), nil
}

func (b *cappedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
