package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/internal/tool"
)

// patience limits how long one program may take, so that the doctor does not hang when a
// java hangs.
var patience = 20 * time.Second

func errNoAnswer() error { return fmt.Errorf("no answer within %s", patience) }

// withPatience returns a child of ctx with a timeout, so that no program can take longer than
// patience allows.
func withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, errNoAnswer())
}

// run runs a program and returns what it printed. The program is killed, with its
// children, when it takes too long or ctx ends.
func run(ctx context.Context, command ...string) (stdout, stderr string, err error) {
	return runWith(ctx, os.Environ(), command...)
}

// runWith is like run, but runs the program in the environment env. Both functions set LC_ALL=C, so that messages are
// in English.
func runWith(ctx context.Context, env []string, command ...string) (stdout, stderr string, err error) {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	cmd := tool.Command(ctx, command[0], command[1:]...)
	cmd.Env = append(env[:len(env):len(env)], "LC_ALL=C")
	var out, errs capped
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.String(), errs.String(), err
}

// capped is a writer that keeps the first MiB of what is written to it.
type capped struct{ text bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	c.text.Write(b[:min(len(b), 1<<20-c.text.Len())])
	return len(b), nil
}

func (c *capped) String() string { return c.text.String() }

// A target is a process to try a sampler on. It waits until release is called. Then it executes another shell, which
// keeps a CPU busy for some seconds. If gasm ends first, the target ends by itself soon afterwards.
type target struct {
	cmd   *exec.Cmd
	stdin *os.File // the writing end of the pipe to the target's stdin
}

func startTarget() (*target, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command("/bin/sh", "-c", "read go && exec /bin/sh -c 'i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done'")
	cmd.Stdin = theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal is for gasm alone
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	return &target{cmd, ours}, nil
}

func (t *target) pid() int { return t.cmd.Process.Pid }

func (t *target) release() { _, _ = t.stdin.WriteString("go\n") }

func (t *target) end() {
	t.stdin.Close()
	_ = t.cmd.Process.Kill()
	_ = t.cmd.Wait() // the error is that it was killed
}
