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

// patience limits how long one program may take, so that the doctor does not hang if a program hangs. On a machine
// where JVMs are slow, java may take longer; see foundJDK.limit.
var patience = 20 * time.Second

// A noAnswerError is the error for a program that has not ended within the limit.
type noAnswerError struct{ limit time.Duration }

func (e noAnswerError) Error() string { return fmt.Sprintf("no answer within %s", e.limit) }

// withLimit returns a child of ctx with a timeout. The cause of the timeout is a noAnswerError.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, noAnswerError{limit})
}

// withPatience returns a child of ctx that ends when patience has passed.
func withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	return withLimit(ctx, patience)
}

// run runs a program and returns what it printed. If the program takes too long, or if ctx ends, the program is killed
// together with its children.
func run(ctx context.Context, command ...string) (stdout, stderr string, err error) {
	return runWithin(ctx, patience, os.Environ(), command...)
}

// runWithin is like run, but with the given limit, and with env as the program's environment. Both functions set
// LC_ALL=C, so that messages are in English. If the limit is reached, err is a noAnswerError.
func runWithin(ctx context.Context, limit time.Duration, env []string, command ...string) (stdout, stderr string,
	err error) {
	ctx, cancel := withLimit(ctx, limit)
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

// A target is a process on which a sampler is tried. It waits until release is called. Then it executes another shell,
// which writes a line and keeps a CPU busy for some seconds. If gasm ends first, the target ends soon afterwards.
type target struct {
	cmd    *exec.Cmd
	stdin  *os.File // the writing end of the pipe to the target's stdin
	stdout *os.File // the reading end of the pipe from its stdout
}

func startTarget() (*target, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	said, says, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer says.Close()
	cmd := exec.Command("/bin/sh", "-c",
		"read go && exec /bin/sh -c 'echo; i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done'")
	cmd.Stdin, cmd.Stdout = theirs, says
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal is for gasm alone
	if err := cmd.Start(); err != nil {
		ours.Close()
		said.Close()
		return nil, err
	}
	return &target{cmd, ours, said}, nil
}

func (t *target) pid() int { return t.cmd.Process.Pid }

func (t *target) release() { _, _ = t.stdin.WriteString("go\n") }

// awaitWork waits until the released target works, but no longer than patience. Without the wait, the trial could end
// on a slow machine before the target has begun to work.
func (t *target) awaitWork() {
	_ = t.stdout.SetReadDeadline(time.Now().Add(patience))
	_, _ = t.stdout.Read(make([]byte, 1)) // after an error, the trial will have no samples
}

func (t *target) end() {
	t.stdin.Close()
	t.stdout.Close()
	_ = t.cmd.Process.Kill()
	_ = t.cmd.Wait() // the error is that it was killed
}
