package threaddump

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// zeros is a memory that can be read at every address.
type zeros struct{}

func (zeros) Read(_ []byte, _, size uint64) ([]byte, error) { return make([]byte, size), nil }
func (zeros) Uint64(uint64) (uint64, error)                 { return 0, nil }
func (zeros) Uint32(uint64) (uint32, error)                 { return 0, nil }

// TestStackLimits checks that the stacks of many threads together do not take more memory than maxAllStacks, plus a
// little for each thread.
func TestStackLimits(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	process, err := foreign.Open(cmd.Process.Pid)
	require.NoError(t, err)
	defer process.Close()
	c := capturer{process: process, vm: zeros{}, layout: &offsets{}, began: time.Now()}
	stackSize := func() int {
		var got capture
		require.Eventually(t, func() bool { // at first, the thread runs
			got = c.capture(cmd.Process.Pid, 0)
			return got.result == Whole
		}, time.Minute, time.Millisecond)
		return len(got.stack)
	}
	assert.Equal(t, maxNative, stackSize())
	assert.Equal(t, maxNative, c.copied)
	c.copied = maxAllStacks
	assert.Equal(t, smallStack, stackSize())
	assert.Equal(t, maxAllStacks+smallStack, c.copied)
}
