// Package tool runs programs of others: samplers, java, and tools that describe a machine.
package tool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command returns a command with English output. When ctx is done, it is killed with its children. Ctrl-C on the
// terminal does not reach it.
func Command(ctx context.Context, path string, args ...string) *exec.Cmd {
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
	// If a child of the tool still has its stderr open after the tool has ended, Wait waits for the child only that
	// long.
	cmd.WaitDelay = time.Second
	return cmd
}
