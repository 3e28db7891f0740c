package tool

import (
	"bufio"
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	return read, write
}

// TestCommandIsKilledWithItsChildren: when the context ends, a command is killed together with its children. The test
// sees that because the other end of the pipe to which they write is then closed.
func TestCommandIsKilledWithItsChildren(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := Command(ctx, "/bin/sh", "-c", "sh -c 'echo $LC_ALL; read never' <&3 & wait")
	read, write := pipe(t)
	out, theirs := pipe(t)
	defer write.Close() // the child reads from it, and nothing is ever written
	cmd.ExtraFiles = append(cmd.ExtraFiles, read)
	cmd.Stdout = theirs
	require.NoError(t, cmd.Start())
	read.Close()
	theirs.Close()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	assert.Equal(t, "C", lines.Text())
	require.NoError(t, out.SetReadDeadline(time.Now().Add(time.Minute))) // it comes at once
	cancel()
	assert.Error(t, cmd.Wait())
	assert.False(t, lines.Scan(), "the child has ended, with its end of the pipe")
	assert.NoError(t, lines.Err())
}
