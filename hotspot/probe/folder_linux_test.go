package probe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A folder of probes is known by its name, since the note of it is a file that anybody could have damaged.
func TestIsFolder(t *testing.T) {
	path, err := Folder(os.Getpid())
	require.NoError(t, err)
	assert.True(t, IsFolder(path), path)
	for _, other := range []string{"", "/tmp", "/tmp/gasm-probes-", "/tmp/gasm-probes-12x", "/tmp/gasm-probes-12/..", "/tmp/gasm-probes-/1", "/var/tmp/gasm-probes-12",
		"tmp/gasm-probes-12", "/tmp/gasm-jvm-12", "/tmp/x/gasm-probes-12", "/tmp/gasm-probes-12345678901"} {
		assert.False(t, IsFolder(other), other)
	}
}

// The folder of a JVM that has ended goes, unless a gasm uses it, and nothing that a link leads to.
func TestRemoveFolder(t *testing.T) {
	dir := t.TempDir()
	folder, link := filepath.Join(dir, "folder"), filepath.Join(dir, "link")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "agent.jar"), nil, 0o600))
	require.NoError(t, os.Symlink(folder, link))
	RemoveFolder(link)
	RemoveFolder(filepath.Join(dir, "none"))
	assert.FileExists(t, filepath.Join(folder, "agent.jar"))
	lock, err := lockFolder(folder)
	require.NoError(t, err)
	RemoveFolder(folder)
	assert.DirExists(t, folder, "it is in use")
	require.NoError(t, lock.Close())
	RemoveFolder(folder)
	assert.NoDirExists(t, folder)
}
