package gasmtest

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStop checks that all threads of a stopped process are stopped, and that the process continues when the test ends.
func TestStop(t *testing.T) {
	sleep := exec.Command("sleep", "60")
	require.NoError(t, sleep.Start())
	t.Run("stopped", func(t *testing.T) {
		Stop(t, sleep.Process.Pid)
		assert.Equal(t, "T", threadStates(sleep.Process.Pid))
	})
	require.NoError(t, sleep.Process.Kill())
	assert.Eventually(t, func() bool { return threadStates(sleep.Process.Pid) == "Z" }, time.Minute, time.Millisecond,
		"killed, and nobody has asked how it ended")
	require.Error(t, sleep.Wait())
	assert.Empty(t, threadStates(sleep.Process.Pid))
}
