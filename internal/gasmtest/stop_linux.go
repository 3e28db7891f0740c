package gasmtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Stop stops a process, and waits until all of its threads have stopped. Just sending SIGSTOP is not enough. kill(2)
// returns when the signal has been sent to one thread, and all other threads keep running until that thread handles the
// signal. On a busy machine that takes a while. When the test ends, the process continues, so that nothing waits for it
// forever after a failed test.
func Stop(t testing.TB, pid int) {
	t.Helper()
	require.NoError(t, unix.Kill(pid, unix.SIGSTOP))
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGCONT) })
	ended := false
	require.Eventually(t, func() bool {
		states := threadStates(pid)
		ended = strings.Trim(states, "ZX") == ""
		return ended || strings.Trim(states, "T") == ""
	}, time.Minute, time.Millisecond, "all threads stop")
	require.False(t, ended, "process %d has ended before it was stopped", pid)
}

// threadStates returns the state of each thread of a process, as a letter from proc(5): T for stopped, Z for a zombie.
// It returns "" if the process is gone.
func threadStates(pid int) (states string) {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is well-formed
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		// "4711 (C2 CompilerThre) T 1 …": the state follows the name in parentheses, which may contain any characters.
		_, state, ok := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		if err != nil || !ok {
			states += "?" // the thread is ending
			continue
		}
		states += state[:1]
	}
	return states
}
