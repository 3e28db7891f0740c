package record

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

// A process keeps its id and its start when it runs another program, which may be one of root's: what was to be written into
// the first program's memory is not written into that of the second.
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
	require.NoError(t, writeByte(memory, address, 0), "the lowest byte of the stack's pages, which nobody uses")
	_, err = io.WriteString(in, "\n")
	require.NoError(t, err)
	require.True(t, lines.Scan())
	assert.Equal(t, "second", lines.Text())
	for _, address := range []uint64{address, stackOf(t, cmd.Process.Pid)} {
		assert.ErrorIs(t, writeByte(memory, address, 0), io.ErrUnexpectedEOF)
	}
}

// stackOf is where the stack of a process begins.
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
