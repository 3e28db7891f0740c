package collect

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/internal/tool"
)

// A process is an external sampler. It has a process group of its own, so that
// Ctrl-C on the terminal does not reach it. It has no stdin, and its messages are in
// English.
type process struct {
	cmd    *exec.Cmd
	stderr cappedBuffer
	kill   context.CancelFunc // kills the group
	done   chan struct{}      // closed when the process has ended and cmd.Wait has returned
	// started is called when the process runs or could not be started, after when it has ended; both
	// may be nil.
	started, after func()
}

// How long a sampler may take to end. perf needs some ms. Tests shorten these times.
var (
	slowEnd = 2 * time.Second  // then the user is told
	lastEnd = 10 * time.Second // then it is killed
)

// killedEnd is how long a process may take to end after SIGKILL. A process that waits for a broken disk
// never ends.
const killedEnd = 5 * time.Second

// startProcess starts the command with the files as its descriptors 3, 4, …. The end of ctx kills it,
// and it ends when gasm is killed.
func startProcess(ctx context.Context, path string, args []string, files ...*os.File) (*process, error) {
	p := newProcess(ctx, path, args)
	endAsOrphan(p.cmd.SysProcAttr)
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
	p.cmd = tool.Command(ctx, path, args...)
	p.cmd.Stderr = &p.stderr
	return p
}

func (p *process) start() error {
	err := p.cmd.Start()
	if p.started != nil {
		p.started()
	}
	if err != nil {
		p.end()
		return err
	}
	go func() {
		// p.cmd.ProcessState says how it ended.
		_ = p.cmd.Wait()
		p.end()
		close(p.done)
	}()
	return nil
}

func (p *process) end() {
	p.kill()
	if p.after != nil {
		p.after()
	}
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop asks the process to end and waits until it has. asked is false if it had already ended. If the
// process has not ended after slowEnd, stop calls slow. After lastEnd it kills the process and returns
// false for inTime.
func (p *process) stop(sig os.Signal, slow func()) (asked, inTime bool) {
	asked = !p.ended() && p.cmd.Process.Signal(sig) == nil
	if asked {
		p.wake()
	}
	if awaitDone(p.done, lastEnd, slowEnd, slow) {
		return asked, true
	}
	p.kill()
	awaitDone(p.done, killedEnd, killedEnd, nil)
	return asked, false
}

// wake lets the process and its children go on if somebody has stopped them (SIGSTOP, SIGTSTP): a
// stopped process does not handle a signal to end.
func (p *process) wake() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGCONT) }

// tellSlow tells the user that a tool takes long to end, and what happens then. say may be nil.
func tellSlow(say func(message string), tool, then string) {
	if say != nil {
		say(fmt.Sprintf("%s has not ended yet, %s after it was asked to; %s", tool, slowEnd, then))
	}
}

// awaitDone waits until done is closed. After the time some it calls slow, which may be nil. At the
// limit it gives up and returns false.
func awaitDone(done <-chan struct{}, limit, some time.Duration, slow func()) bool {
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

// status returns how the process ended. Call it after done is closed.
func (p *process) status() syscall.WaitStatus {
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// A cappedBuffer keeps the first 64 kB written to it. It may be read while it is written to.
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
