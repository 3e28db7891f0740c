package record

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/folder"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// TestLeftFolders checks that LeftFolders returns folders of all kinds, and that sweep keeps the notes about running
// JVMs.
func TestLeftFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pid := os.Getpid()
	note, err := jvmfolder.Leave(pid, processend.StartTicks(pid), foreign.User{UID: os.Geteuid(), GID: os.Getegid()},
		jvmfolder.NewPath(), "")
	require.NoError(t, err)
	t.Cleanup(note.Forget)
	own, err := folder.New("")
	require.NoError(t, err)
	t.Cleanup(func() { own.Remove() })
	paths := func() (paths []string) {
		for _, left := range LeftFolders(t.Context()) {
			paths = append(paths, left.Path)
		}
		return paths
	}
	assert.NotContains(t, paths(), note.Dir, "a gasm that runs holds it")
	assert.NotContains(t, paths(), own.Path, "a gasm that runs holds it")
	note.Close() // as the kernel does
	sweep(t.Context())
	assert.Contains(t, LeftFolders(t.Context()), LeftFolder{Path: note.Dir, Why: note.Left()})
}
