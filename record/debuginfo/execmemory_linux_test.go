package debuginfo

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMemoryAfterExec checks a process that executes another program, possibly one of root's. It keeps its id and its
// start time. What gasm wants to write into the memory of the first program must not be written into the second one.
func TestMemoryAfterExec(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "echo first; read go; exec /bin/sh -c 'echo second; read go'")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	memory, err := openMemory(cmd.Process.Pid)
	require.NoError(t, err)
	defer memory.Close()
	address := stackOf(t, cmd.Process.Pid)
	require.NoError(t, writeByte(t.Context(), memory, address, 0),
		"the lowest byte of the stack's pages, which no program uses")
	_, err = io.WriteString(in, "\n")
	require.NoError(t, err)
	require.True(t, lines.Scan())
	assert.Equal(t, "second", lines.Text())
	for _, address := range []uint64{address, stackOf(t, cmd.Process.Pid)} {
		assert.ErrorIs(t, writeByte(t.Context(), memory, address, 0), io.ErrUnexpectedEOF)
	}
}

// stackOf returns the address at which the stack of a process begins.
func stackOf(t *testing.T, pid int) uint64 {
	t.Helper()
	mappings, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(mappings)) {
		if strings.Contains(line, "[stack]") {
			var lo uint64
			_, err := fmt.Sscanf(line, "%x-", &lo)
			require.NoError(t, err)
			return lo
		}
	}
	require.Fail(t, "no stack")
	return 0
}
