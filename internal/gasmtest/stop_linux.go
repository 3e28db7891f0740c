package gasmtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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
	require.Eventually(t, func() bool { return allStopped(t, pid) }, time.Minute, time.Millisecond, "all threads stop")
}

func allStopped(t testing.TB, pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(t, err)
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		// "4711 (C2 CompilerThre) T 1 …": the state follows the name, which may hold anything.
		if end := bytes.LastIndexByte(text, ')'); err != nil || !bytes.HasPrefix(text[end+1:], []byte(" T ")) {
			return false
		}
	}
	return len(stats) > 0
}
