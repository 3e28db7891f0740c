package attach

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// TestLister checks that a Lister uses again what it knows about a process, but not for another process with the same
// id, not for ever, and not while the process is young, and that it forgets ended processes.
func TestLister(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "1000")
	require.NoError(t, cmd.Start())
	pid := cmd.Process.Pid
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	l := &Lister{seen: map[int]*looked{}}
	_, err := l.look(t.Context(), pid, 1)
	require.Error(t, err)
	known := l.seen[pid]
	require.NotNil(t, known)
	assert.True(t, known.again.IsZero(), "it has one thread, and may start others")

	jvm := &Process{PID: pid, Main: "M"}
	known.jvm, known.again = jvm, time.Now().Add(time.Hour) // as if the process were a JVM
	j, err := l.look(t.Context(), pid, 2)
	require.NoError(t, err)
	assert.Same(t, jvm, j)
	assert.EqualValues(t, 2, known.round)
	known.ticks-- // as if the process had started at another time
	_, err = l.look(t.Context(), pid, 3)
	require.Error(t, err)
	l.seen[pid].jvm, l.seen[pid].again = jvm, time.Now().Add(-time.Second) // as if it were time to read it again
	_, err = l.look(t.Context(), pid, 4)
	require.Error(t, err)

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_, err = l.look(t.Context(), pid, 5)
	require.ErrorIs(t, err, foreign.ErrEnded)
	_, err = l.List(t.Context())
	require.NoError(t, err)
	assert.NotContains(t, l.seen, pid)
	parent := l.seen[os.Getppid()] // it has several threads
	require.NotNil(t, parent)
	assert.WithinDuration(t, time.Now().Add(lookAgain/2), parent.again, lookAgain/2, "after its age")
	assert.True(t, parent.again.After(time.Now()))
	assert.Contains(t, l.seen, os.Getppid())
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.List(canceled)
	require.ErrorIs(t, err, context.Canceled)
}
