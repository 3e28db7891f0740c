package hostile

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A canary is a tree of files that belong to root. Attackers try to make gasm use these files. Everybody can read the
// tree except for its secrets, and nothing in it may change.
type canary struct {
	dir   string
	state map[string]string
}

// newCanary makes the tree. It has folders, and files with and without permissions for others. One folder has a file
// with the name of each file that gasm makes in the folder of a JVM, because an attacker may put this folder in place
// of the JVM's.
func newCanary(t *testing.T) *canary {
	t.Helper()
	dir, err := os.MkdirTemp(folder, "canary-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, sub := range []string{"folder", "folder/below", "plain", "plain/below", "secrets"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	for _, name := range []string{"file", "shadow", "folder/file", "folder/below/file", "plain/file", "plain/below/file",
		"secrets/key",
		"folder/agent.jar", "folder/agent.classes", "folder/probes", "folder/sites.so", "folder/events.log",
		"folder/events.jfr", "folder/gasm.jfc"} {
		mode := os.FileMode(0o644)
		if name == "shadow" || name == "secrets/key" {
			mode = 0o600
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("canary "+name), mode))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "secrets"), 0o700))
	c := &canary{dir: dir}
	c.state = c.look(t)
	require.Len(t, c.state, 20)
	return c
}

// look returns a description of each file: its kind and permissions, its owner, its content, and when these were
// changed.
func (c *canary) look(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{}
	require.NoError(t, filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprintf("%v, user %d, group %d, %d names, changed at %d.%09d", info.Mode(), stat.Uid, stat.Gid,
			stat.Nlink, stat.Ctim.Sec, stat.Ctim.Nsec)
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(", content %x", sha256.Sum256(content))
		}
		state[path] = text
		return nil
	}))
	return state
}

// check fails the test if anything in the tree has changed.
func (c *canary) check(t *testing.T) {
	t.Helper()
	assert.Equal(t, c.state, c.look(t), "root's files")
}
