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

// Stop stops a process, and returns when all of its threads have stopped. A SIGSTOP alone is not enough: kill(2)
// returns as soon as one thread was told, and until that one has run, which on a busy machine takes a while, the others
// go on. With the test's end it goes on, so that nothing waits forever for one that a failed test has left stopped.
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

// threadStates gives a letter for each thread of a process as proc(5) has them: T stopped, Z ended, and others; "" for a process that is gone.
func threadStates(pid int) (states string) {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is well-formed
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		// "4711 (C2 CompilerThre) T 1 …": the state follows the name, which may hold anything.
		_, state, ok := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		if err != nil || !ok {
			states += "?" // it is ending
			continue
		}
		states += state[:1]
	}
	return states
}
