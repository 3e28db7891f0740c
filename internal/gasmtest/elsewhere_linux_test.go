package gasmtest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Folders that a child process has open count as this test's own. Folders that another process has open do not.
func TestOwnFolders(t *testing.T) {
	outer, err := os.MkdirTemp("/tmp", "gasm-own-")
	require.NoError(t, err)
	defer os.RemoveAll(outer)
	require.NoError(t, os.Mkdir(filepath.Join(outer, "log"), 0o700))
	pattern := "/tmp/gasm-own-*"
	assert.Contains(t, OwnFolders(pattern), outer)
	// The shell ends, so that its child has another parent. The child ends with stdin.
	cmd := exec.Command("/bin/sh", "-c", `sh -c 'echo opened; read line' 3<"$0" <&4 &`, filepath.Join(outer, "log"))
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer write.Close()
	cmd.Stdin, cmd.ExtraFiles = read, []*os.File{read, read}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "opened\n", line)
	require.NoError(t, cmd.Wait())
	read.Close()
	assert.NotContains(t, OwnFolders(pattern), outer)
	require.NoError(t, os.RemoveAll(outer))
	assert.NotContains(t, OwnFolders(pattern), outer)
}
