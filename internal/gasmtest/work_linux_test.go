package gasmtest

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAwaitWork(t *testing.T) {
	loop := exec.Command("sh", "-c", "while :; do :; done")
	require.NoError(t, loop.Start())
	AwaitWork(t, loop.Process.Pid, 50*time.Millisecond)
	used, ok := CPUTime(loop.Process.Pid)
	assert.True(t, ok)
	assert.GreaterOrEqual(t, used, 50*time.Millisecond)

	require.NoError(t, loop.Process.Kill())
	require.Error(t, loop.Wait())
	_, ok = CPUTime(loop.Process.Pid)
	assert.False(t, ok)
	usage := loop.ProcessState.SysUsage().(*syscall.Rusage)
	own := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	assert.LessOrEqual(t, used, own+20*time.Millisecond, "two ticks")
}
