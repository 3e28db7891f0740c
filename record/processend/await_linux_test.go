package processend

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// awaited starts a process that sleeps. It calls await, which is Await or poll, for this process, and calls during
// while await waits.
func awaited(t *testing.T, await func(pid int, ticks uint64, stop <-chan struct{}) bool,
	during func(cmd *exec.Cmd, stop chan struct{})) (ended bool) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	stop, result := make(chan struct{}), make(chan bool)
	go func() { result <- await(cmd.Process.Pid, StartTicks(cmd.Process.Pid), stop) }()
	select {
	case <-result:
		t.Fatal("it did not wait, but the process runs")
	case <-time.After(100 * time.Millisecond):
	}
	during(cmd, stop)
	select {
	case ended = <-result:
	case <-time.After(time.Minute):
		t.Fatal("it still waits after a minute")
	}
	return ended
}

func TestAwaitEnd(t *testing.T) {
	ways := map[string]func(int, uint64, <-chan struct{}) bool{"pidfd": Await, "looking": poll}
	for name, await := range ways {
		t.Run(name, func(t *testing.T) {
			// The killed process stays a zombie until the end of the test, because only then does the test wait for
			// it.
			assert.True(t, awaited(t, await, func(cmd *exec.Cmd, _ chan struct{}) { require.NoError(t, cmd.Process.Kill()) }))
			assert.False(t, awaited(t, await, func(_ *exec.Cmd, stop chan struct{}) { close(stop) }))
			// With other start ticks, the id belongs to another process by now.
			assert.True(t, await(os.Getpid(), StartTicks(os.Getpid())-1, nil))
			// There is no such process.
			assert.True(t, await(1<<22+1, 1, nil))
		})
	}
}
