// Package tool runs programs of others: samplers, java, what tells of a machine.
package tool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command is a command that speaks English, and is killed with its children at the end of ctx. Ctrl-C on the terminal does not reach it.
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
	// If the tool leaves a child behind that has its stderr open, Wait does not wait
	// for the child.
	cmd.WaitDelay = time.Second
	return cmd
}
