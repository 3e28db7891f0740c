package record

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// awaited calls awaitEnd, or what it does without pidfd_open, for a process that sleeps.
func awaited(t *testing.T, await func(pid int, ticks uint64, stop <-chan struct{}) bool, during func(cmd *exec.Cmd, stop chan struct{})) (ended bool) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	stop, result := make(chan struct{}), make(chan bool)
	go func() { result <- await(cmd.Process.Pid, startTicks(cmd.Process.Pid), stop) }()
	select {
	case <-result:
		t.Fatal("the process runs")
	case <-time.After(100 * time.Millisecond):
	}
	during(cmd, stop)
	select {
	case ended = <-result:
	case <-time.After(time.Minute):
		t.Fatal("it is waited for still")
	}
	return ended
}

func TestAwaitEnd(t *testing.T) {
	ways := map[string]func(int, uint64, <-chan struct{}) bool{"pidfd": awaitEnd, "looking": lookForEnd}
	for name, await := range ways {
		t.Run(name, func(t *testing.T) {
			// Nobody waits for it until the test's end: it is a zombie.
			assert.True(t, awaited(t, await, func(cmd *exec.Cmd, _ chan struct{}) { require.NoError(t, cmd.Process.Kill()) }))
			assert.False(t, awaited(t, await, func(_ *exec.Cmd, stop chan struct{}) { close(stop) }))
			// Another process has the id by now.
			assert.True(t, await(os.Getpid(), startTicks(os.Getpid())-1, nil))
			// There is none.
			assert.True(t, await(1<<22+1, 1, nil))
		})
	}
}
