package folder

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCaptureInUse checks that a temporary capture is kept while a process has the path of its logs in its arguments.
// The reason is that JMH passes the options of its own JVM on to JVMs that it starts later.
func TestCaptureInUse(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	capture, err := New("")
	require.NoError(t, err)
	pattern, err := capture.EventPattern()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(capture.Path, "ev-%p.log"), pattern)
	user := exec.Command("sh", "-c", "read line; exit 0", "-Xlog:gc:file="+pattern)
	in, err := user.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, user.Start())
	require.NoError(t, capture.Remove())
	assert.Contains(t, capture.InUse(), "still running: sh (")
	assert.Contains(t, capture.InUse(), "go to "+capture.Path)
	Sweep()
	assert.DirExists(t, capture.Path)
	require.NoError(t, in.Close())
	_ = user.Wait() // its exit status does not matter
	Sweep()
	assert.NoDirExists(t, capture.Path)
}

// TestOwnEvents checks that logs that JVMs have written directly into the capture are checked like those that gasm
// moves there, and that they are removed with the folder if no capture is made.
func TestOwnEvents(t *testing.T) {
	for _, named := range []bool{false, true} {
		t.Setenv("TMPDIR", t.TempDir())
		name := ""
		if named {
			name = filepath.Join(t.TempDir(), "capture")
		}
		capture, err := New(name)
		require.NoError(t, err)
		pattern, err := capture.EventPattern()
		require.NoError(t, err)
		write := func(pid, text string) string {
			path := strings.Replace(pattern, "%p", pid, 1)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			return path
		}
		good, full := write("71", "[1ns][1][gc] x\n"), write("71", "")+".0"
		require.NoError(t, os.WriteFile(full, nil, 0o644))
		large := write("72", "")
		require.NoError(t, os.Truncate(large, maxEventLog+1))
		linked := write("73", "")
		require.NoError(t, os.Link(linked, filepath.Join(t.TempDir(), "other")))
		err = capture.Gather()
		require.ErrorContains(t, err, "taking the events of JVM 72: it has 268435457 bytes")
		require.ErrorContains(t, err, "taking the events of JVM 73: it is not a regular file")
		assert.FileExists(t, good)
		assert.FileExists(t, full)
		assert.NoFileExists(t, large)
		assert.NoFileExists(t, linked)
		require.NoError(t, capture.Remove())
		assert.NoDirExists(t, capture.Path)
	}
}
