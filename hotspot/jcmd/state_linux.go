package jcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// awaitRunning waits until the JVM is not stopped, and returns an error if it is still stopped after askTime. A stopped
// JVM does not answer, but it handles SIGQUIT when it is resumed. If gasm has given up by then and removed the file
// that asks the JVM to listen, the JVM prints the stacks of all its threads instead. So gasm must not send SIGQUIT to a
// stopped JVM.
func (t *target) awaitRunning(ctx context.Context) error {
	stopped := fmt.Errorf("it is stopped, by a signal or a debugger: `kill -CONT %d` resumes it", t.PID())
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, stopped)
	defer cancel()
	for isStopped(t.Process) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(statePause):
		}
	}
	return nil
}

// isStopped reports whether a process is stopped: by SIGSTOP, Ctrl-Z or a debugger.
func isStopped(p *foreign.Process) bool {
	stat, err := p.Stat()
	return err == nil && stat.Stopped()
}

// statePause is the time between two looks at a process's state. endingTime is how long endsSoon waits for a process
// to end.
const (
	statePause = 20 * time.Millisecond
	endingTime = time.Second
)

// endsSoon reports whether a process that has closed its socket ends within endingTime. The kernel closes the socket
// shortly before it reports the end.
func endsSoon(ctx context.Context, p *foreign.Process) bool {
	ctx, cancel := context.WithTimeout(ctx, endingTime)
	defer cancel()
	for !p.Ended() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(statePause):
		}
	}
	return true
}
