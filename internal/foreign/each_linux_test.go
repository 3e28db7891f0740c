package foreign

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEach: other processes are found even if there are processes that block everyone who looks at them.
func TestEach(t *testing.T) {
	var hanging []int
	for range 20 {
		cmd := exec.Command("sleep", "600")
		require.NoError(t, cmd.Start())
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		hanging = append(hanging, cmd.Process.Pid)
	}
	hang := make(chan struct{})
	defer close(hang)
	isHanging := map[int]bool{}
	for _, pid := range hanging {
		isHanging[pid] = true
	}
	began := time.Now()
	found, silent, err := Each(4*time.Second, func(pid int) (int, bool) {
		if isHanging[pid] {
			<-hang
		}
		return pid, pid != 1
	})
	require.NoError(t, err)
	assert.Less(t, time.Since(began), time.Minute)
	assert.ElementsMatch(t, hanging, silent)
	assert.Contains(t, found, os.Getppid())
	assert.NotContains(t, found, 1)
	assert.NotContains(t, found, os.Getpid())
	for _, pid := range hanging {
		assert.NotContains(t, found, pid)
	}
}
