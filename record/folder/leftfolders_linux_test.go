package folder

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// left reports whether AllLeft returns the folder at path, and why a gasm has left it behind.
func left(path string) (why string, found bool) {
	folders := AllLeft()
	i := slices.IndexFunc(folders, func(f Left) bool { return f.Path == path })
	if i < 0 {
		return "", false
	}
	return folders[i].Why, true
}

// TestFolderInUse checks that a folder is kept while a process may start JVMs that log there, and is removed later.
func TestFolderInUse(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	folder, err := New("")
	require.NoError(t, err)
	_, err = folder.MakeLogs()
	require.NoError(t, err)
	logs := folder.logs
	_, found := left(logs.parent)
	assert.False(t, found, "it is in use by a gasm that lives")
	Sweep()
	require.DirExists(t, logs.Path)

	user := exec.Command("sleep", "60")
	user.Env = append(os.Environ(), "JAVA_TOOL_OPTIONS=-XX:LogFile="+logs.Pattern())
	require.NoError(t, user.Start())
	require.NoError(t, folder.Remove())
	assert.Contains(t, folder.InUse(), "still running: sleep (")
	assert.Contains(t, folder.InUse(), "which a later gasm profile removes")
	assert.NoDirExists(t, folder.Path)
	Sweep()
	assert.DirExists(t, logs.Path)
	why, _ := left(logs.parent)
	assert.Contains(t, why, "sleep (")

	require.NoError(t, user.Process.Kill())
	_ = user.Wait() // it was killed
	why, _ = left(logs.parent)
	assert.Contains(t, why, "removes it")
	Sweep()
	assert.NoDirExists(t, logs.parent)
}

// TestSweep checks that what a killed gasm has left behind is removed later. Folders that were kept for the user must
// stay, and so must everything that is not gasm's.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	killed, err := New("")
	require.NoError(t, err)
	kept, err := New("")
	require.NoError(t, err)
	assert.Equal(t, kept.Path, kept.Keep())
	alive, err := New("")
	require.NoError(t, err)
	elsewhere := t.TempDir()
	made, err := lockedfolder.Make(elsewhere)
	require.NoError(t, err)
	made.Close()
	link, bare := filepath.Join(temp, "gasm-1"), filepath.Join(temp, "gasm-2")
	require.NoError(t, os.Symlink(elsewhere, link))
	require.NoError(t, os.Mkdir(bare, 0o700))
	killed.lock.Close() // as the kernel does
	unborn, full := filepath.Join(temp, "gasm-3"), filepath.Join(temp, "gasm-4")
	for dir, file := range map[string]string{unborn: lockedfolder.LockFile + ".new", full: "perf.data"} {
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
		require.NoError(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
	}

	Sweep()
	assert.NoDirExists(t, killed.Path)
	assert.NoDirExists(t, unborn)
	for _, path := range []string{kept.Path, alive.Path, filepath.Join(elsewhere, lockedfolder.LockFile), link, bare,
		full} {
		_, err := os.Lstat(path)
		assert.NoError(t, err)
	}
}
