package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// TestIsFolder: a folder is recognized by its name, because the note about it is a file that anybody could have
// damaged.
func TestIsFolder(t *testing.T) {
	const secret = "/0123456789abcdef0123456789abcdef"
	for _, path := range []string{"/tmp/gasm-probes-12" + secret,
		"/tmp/gasm-probes-4194304-0123456789abcdef0123456789abcdef" + secret,
		"/tmp/gasm-probes-12", "/tmp/gasm-probes-12-0123456789abcdef0123456789abcdef"} {
		assert.True(t, IsFolder(path), path)
	}
	for _, other := range []string{"", "/tmp", "/tmp/gasm-probes-" + secret, "/tmp/gasm-probes-12/",
		"/tmp/gasm-probes-12x" + secret,
		"/tmp/gasm-probes-12/..", "/tmp/gasm-probes-/1" + secret, "/var/tmp/gasm-probes-12" + secret,
		"tmp/gasm-probes-12" + secret, "/tmp/gasm-jvm-12" + secret, "/tmp/x/gasm-probes-12" + secret,
		"/tmp/gasm-probes-12345678901" + secret, "/tmp/gasm-probes-12-" + secret,
		"/tmp/gasm-probes-12-0123456789abcdef" + secret, "/tmp/gasm-probes-12" + secret + "/",
		"/tmp/gasm-probes-12" + secret + "0",
		"/tmp/gasm-probes-12" + secret + secret, "/tmp/gasm-probes-12" + secret[:30] + "/.."} {
		assert.False(t, IsFolder(other), other)
	}
}

// ownWorld enters the file system of this process.
func ownWorld(t *testing.T) *foreign.World {
	t.Helper()
	w, err := foreign.OwnWorld(t.Context(), foreign.User{UID: os.Geteuid(), GID: os.Getegid()})
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// freePath returns the path of the folder for a process id that no process has, and of the folder inside of it.
func freePath(t *testing.T) (path, inner string, ownPID int) {
	t.Helper()
	ownPID = 4_000_000_000 + os.Getpid()
	inner = Places(ownPID)[0]
	path = filepath.Dir(inner)
	require.Equal(t, fmt.Sprintf("/tmp/gasm-probes-%d", ownPID), path)
	t.Cleanup(func() { os.RemoveAll(path) })
	return path, inner, ownPID
}

// TestRemoveFolder: the folder of a JVM that has ended is removed, unless a gasm uses it. Nothing else is removed:
// neither links, nor what they lead to, nor files that neither gasm nor its agent creates.
func TestRemoveFolder(t *testing.T) {
	w := ownWorld(t)
	path, inner, _ := freePath(t)
	elsewhere := t.TempDir()
	for _, name := range []string{"agent.jar", "probes"} {
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, name), nil, 0o600))
	}
	whole := func() bool {
		entries, err := os.ReadDir(elsewhere)
		return err == nil && len(entries) == 2
	}
	require.NoError(t, os.Symlink(elsewhere, path))
	RemoveFolder(w, inner)
	assert.True(t, whole(), "it is reached by a link")
	require.NoError(t, os.Remove(path))

	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "probes"), filepath.Join(path, "agent.jar")))
	for _, name := range []string{"agent.classes", "probes", "sites.so", "error", "probes-12.ring", "probes-12.txt",
		"java-12.so", "java-12.1.so"} {
		require.NoError(t, os.WriteFile(filepath.Join(path, name), nil, 0o600))
	}
	other := filepath.Join(path, strings.Repeat("a", 32)) // the inner folder of another gasm, whose note was removed
	for _, dir := range []string{inner, other} {
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "probes-12.ring"), nil, 0o600))
	}
	lock, err := open(nil, w, inner)
	require.NoError(t, err)
	RemoveFolder(w, inner)
	assert.DirExists(t, path, "it is in use")
	lock.release()
	mine := filepath.Join(path, "mine")
	require.NoError(t, os.WriteFile(mine, nil, 0o600))
	RemoveFolder(w, inner)
	entries, err := os.ReadDir(path)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "what gasm does not make")
	require.NoError(t, os.Remove(mine))
	RemoveFolder(w, inner)
	assert.NoDirExists(t, path)
	assert.True(t, whole())
}

// TestTakenFolder: a folder is used only if it belongs to the JVM's user alone.
func TestTakenFolder(t *testing.T) {
	w := ownWorld(t)
	path, inner, ownPID := freePath(t)
	for what, c := range map[string]struct {
		make  func() error
		taken string // what the error says; "" if the folder can be used
	}{
		"nothing": {func() error { return nil }, ""},
		"own":     {func() error { return os.Mkdir(path, 0o700) }, ""},
		"file": {func() error { return os.WriteFile(path, nil, 0o600) },
			"is not a folder that gasm can use (it is not a folder, and gasm does not follow links)"},
		"link": {func() error { return os.Symlink(t.TempDir(), path) },
			"is not a folder that gasm can use (it is not a folder, and gasm does not follow links)"},
		"open to all": {func() error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o777)) },
			"can be accessed by other users (mode 777)"},
		"another user's": {func() error {
			if os.Geteuid() != 0 {
				t.Skip("only root can make another user's folder")
			}
			return errors.Join(os.Mkdir(path, 0o755), os.Chown(path, 65534, 65534))
		}, "belongs to another user (65534)"},
	} {
		t.Run(what, func(t *testing.T) {
			require.NoError(t, c.make())
			defer os.RemoveAll(path)
			s, err := open(nil, w, inner)
			if c.taken == "" {
				require.NoError(t, err)
				s.release()
				return
			}
			require.ErrorIs(t, err, ErrTaken)
			assert.EqualError(t, err, fmt.Sprintf("the folder for the agent's files can't be used: %s %s: remove it", path,
				c.taken))
			RemoveFolder(w, inner)
			_, err = os.Lstat(path)
			require.NoError(t, err, "it is not gasm's")
		})
	}
	places := Places(ownPID)
	assert.NotEqual(t, inner, places[0])
	assert.Equal(t, path, filepath.Dir(places[0]))
	assert.NotEqual(t, filepath.Dir(places[1]), filepath.Dir(Places(ownPID)[1]))
	assert.True(t, IsFolder(places[1]), places[1])
	s, err := open(nil, w, places[1])
	require.NoError(t, err)
	s.Close()
	assert.NoDirExists(t, filepath.Dir(places[1]))
}

// TestNoFolder: RemoveFolder does not create the folder of a JVM that has ended if there is none.
func TestNoFolder(t *testing.T) {
	path, inner, _ := freePath(t)
	RemoveFolder(ownWorld(t), inner)
	assert.NoDirExists(t, path)
}

// TestOlderFolder: in older releases of gasm, the folder in /tmp had no folder inside it. RemoveFolder removes what
// such a release has left behind, too.
func TestOlderFolder(t *testing.T) {
	w := ownWorld(t)
	path, _, _ := freePath(t)
	s, err := open(nil, w, path)
	require.NoError(t, err)
	require.NoError(t, s.write(map[string][]byte{ReportFile(s.ownPID): []byte("stopped\t0\n")}))
	rep, err := s.stopReport()
	require.NoError(t, err)
	assert.True(t, rep.Stopped)
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, s.restore())
	assert.FileExists(t, filepath.Join(path, jarFile))
	s.release()
	RemoveFolder(w, path)
	assert.NoDirExists(t, path)
}
