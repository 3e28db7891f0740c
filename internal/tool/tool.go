// Package tool runs other programs: samplers, java, and tools that describe a machine.
package tool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command returns a command that runs in the C locale, so its messages are in English. It has a process group of its
// own: when ctx is done, the whole group is killed, and Ctrl-C on the terminal does not reach it.
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
	// A child of the program may keep the program's stderr open after the program has ended. WaitDelay is how long Wait
	// waits for that child.
	cmd.WaitDelay = time.Second
	return cmd
}
