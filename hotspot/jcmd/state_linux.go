package jcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// awaitRunning waits until the JVM is not stopped. One that is stopped gives no answer, but does later what it has got
// meanwhile; and SIGQUIT, once gasm has given up and its file is gone, has it print all its threads' stacks.
func (t *target) awaitRunning(ctx context.Context) error {
	stopped := fmt.Errorf("it is stopped, by a signal or a debugger: `kill -CONT %d` has it go on", t.PID())
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

// How often a process's state is looked at, and how long a process may take to end once its sockets are closed.
const (
	statePause = 20 * time.Millisecond
	endingTime = time.Second
)

// endsSoon reports whether a process whose socket is closed has ended. The kernel closes it before it says so.
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
