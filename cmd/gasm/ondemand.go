package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/watch/serve"
)

const (
	onDemandEnd     = 20 * time.Second // how long a recording that must end early may take before it is killed
	maxOnDemandText = 2000             // bytes of its messages that are kept
)

// recordOnDemand runs gasm attach, and writes the report to a writer, which should be a file.
func recordOnDemand(ctx context.Context, r serve.Request, to io.Writer) error {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "attach", "--length", strconv.Itoa(r.Seconds)+"s",
		"--format", r.Format, strconv.Itoa(r.PID))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = onDemandEnd
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C ends gasm watch only
	endWithThread(cmd, syscall.SIGTERM)                   // so that a killed gasm watch leaves nothing behind
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	setTimerSlack(usualWakeUp) // gasm watch itself may be woken up late, but not a short recording
	defer setTimerSlack(lateWakeUp)
	var messages lastBytes
	cmd.Stdout, cmd.Stderr = to, &messages
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return errors.New("the request was cancelled")
	case err != nil:
		return fmt.Errorf("recording JVM %d: %w: %s", r.PID, err, strings.TrimSpace(messages.kept.String()))
	}
	return nil
}

// A lastBytes keeps the last bytes that were written to it.
type lastBytes struct{ kept bytes.Buffer }

func (l *lastBytes) Write(p []byte) (int, error) {
	n, err := l.kept.Write(p)
	if more := l.kept.Len() - maxOnDemandText; more > 0 {
		l.kept.Next(more)
	}
	return n, err
}
