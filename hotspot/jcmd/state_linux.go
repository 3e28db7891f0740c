package jcmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"
)

// awaitRunning waits until the JVM is not stopped. One that is stopped gives no answer, but does later what it has got
// meanwhile; and SIGQUIT, once gasm has given up and its file is gone, has it print all its threads' stacks.
func (t *target) awaitRunning(ctx context.Context) error {
	stopped := fmt.Errorf("it is stopped, by a signal or a debugger: `kill -CONT %d` has it go on", t.pid)
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, stopped)
	defer cancel()
	for isStopped(t.pid) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(statePause):
		}
	}
	return nil
}

// isStopped tells whether a process is stopped: by SIGSTOP, Ctrl-Z or a debugger.
func isStopped(pid int) bool {
	state := processState(pid)
	return state == 'T' || state == 't'
}

// How often a process's state is looked at, and how long a process may take to end once its sockets are closed.
const (
	statePause = 20 * time.Millisecond
	endingTime = time.Second
)

// hasEnded tells whether a process has ended. Its parent may not have waited for it.
func hasEnded(pid int) bool {
	state := processState(pid)
	return state == 0 || state == 'Z' || state == 'X'
}

// endsSoon tells whether a process whose socket is closed has ended. The kernel closes it before it says so.
func endsSoon(pid int) bool {
	for until := time.Now().Add(endingTime); !hasEnded(pid); time.Sleep(statePause) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

// processState is the third field of proc(5)'s stat; 0 of a process that is gone. The second one is a name in parentheses,
// which may hold anything.
func processState(pid int) byte {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // gone: no text
	text = text[bytes.LastIndexByte(text, ')')+1:]
	if len(text) < 2 {
		return 0
	}
	return text[1]
}
