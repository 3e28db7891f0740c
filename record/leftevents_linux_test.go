package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A note names a folder that gasm may remove, so only one of gasm's own is believed.
func TestReadEventNote(t *testing.T) {
	secret := strings.Repeat("a", lockedfolder.SecretLength)
	for path, want := range map[string]string{
		"/tmp/gasm-jvm-" + secret:               "logs or records events for",
		"/tmp/gasm-probes-4711":                 "counts for probes of",
		"/tmp/gasm-probes-4711-" + secret:       "counts for probes of",
		"/tmp/gasm-jvm-":                        "",
		"/tmp/gasm-jvm-" + secret[1:]:           "",
		"/tmp/gasm-jvm-" + secret + "a":         "",
		"/tmp/gasm-jvm-" + secret[3:] + "/..":   "",
		"/home/gasm-jvm-" + secret:              "",
		"/tmp/gasm-probes-4711/..":              "",
		"/":                                     "",
		"../gasm-probes-4711":                   "",
		"/tmp/gasm-probes-" + secret[:9] + "\n": "",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, eventNoteFile), fmt.Appendf(nil, "12 34 1000 100 %s\n", path), 0o600))
		n, ok := readEventNote(dir)
		require.Equal(t, want != "", ok, path)
		if ok {
			assert.Equal(t, &eventNote{pid: 12, ticks: 34, uid: 1000, gid: 100, path: path, dir: dir}, n)
			assert.Equal(t, fmt.Sprintf("JVM 12 still %s a gasm that has ended, into %s: `gasm attach` ends that as soon as the JVM answers", want, path), n.left())
		}
	}
}

// self is the user of this process.
func self() foreign.User { return foreign.User{UID: os.Geteuid(), GID: os.Getegid()} }

// isLeft reports whether gasm says that it could not end what a note tells of.
func isLeft(t *testing.T, n *eventNote) bool {
	t.Helper()
	ended, left := EndLeft(t.Context())
	assert.NotContains(t, strings.Join(ended, "\n"), n.path)
	return slices.ContainsFunc(left, func(text string) bool { return strings.HasPrefix(text, n.left()) })
}

// What a killed gasm has noted of a JVM that has ended is removed, with its folder. Of one that runs and does not end it, as
// this process, gasm says so each time.
func TestEventNotes(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pid := os.Getpid()
	alive, err := leaveEventNote(pid, processend.StartTicks(pid), self(), "/tmp/gasm-probes-2147483646")
	require.NoError(t, err)
	t.Cleanup(alive.forget)
	t.Cleanup(func() { os.RemoveAll(alive.path) })
	ended, err := leaveEventNote(pid, processend.StartTicks(pid)+1, self(), "/tmp/gasm-probes-2147483647") // another process has its id now
	require.NoError(t, err)
	t.Cleanup(ended.forget)
	require.NoError(t, os.Mkdir(ended.path, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(ended.path, "agent.jar"), nil, 0o600))
	t.Cleanup(func() { os.RemoveAll(ended.path) })
	assert.False(t, isLeft(t, alive), "a gasm that lives has it")
	assert.DirExists(t, ended.dir)
	alive.lock.Close() // as the kernel does
	ended.lock.Close()
	for range 2 {
		assert.True(t, isLeft(t, alive))
	}
	assert.NoDirExists(t, ended.dir)
	assert.NoDirExists(t, ended.path)
	assert.DirExists(t, alive.dir)
	_, why := left(alive.dir)
	assert.True(t, why, "doctor says so, too")
}

// The folder of a JVM that runs is removed when all is off again, and that of one that has ended, by gasm profile, too.
func TestLeftFoldersOfJVMs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pid := os.Getpid()
	off, err := leaveEventNote(pid, processend.StartTicks(pid), self(), jvmFolderPath())
	require.NoError(t, err)
	t.Cleanup(off.forget)
	ended, err := leaveEventNote(pid, processend.StartTicks(pid)+1, self(), jvmFolderPath())
	require.NoError(t, err)
	t.Cleanup(ended.forget)
	for _, n := range []*eventNote{off, ended} {
		t.Cleanup(func() { os.RemoveAll(n.path) })
		require.NoError(t, os.Mkdir(n.path, 0o700))
		for _, name := range []string{toldLog, toldLog + ".0", toldRecording, toldSettings} {
			require.NoError(t, os.WriteFile(filepath.Join(n.path, name), nil, 0o600))
		}
	}
	off.switchedOff()
	read, ok := readEventNote(off.dir)
	require.True(t, ok)
	assert.Equal(t, &eventNote{pid: pid, ticks: off.ticks, uid: self().UID, gid: self().GID, path: off.path, dir: off.dir, off: true}, read)
	sweep()
	assert.DirExists(t, off.path, "a gasm that lives has it")
	off.lock.Close() // as the kernel does
	ended.lock.Close()
	sweep()
	for _, n := range []*eventNote{off, ended} {
		assert.NoDirExists(t, n.path)
		assert.NoDirExists(t, n.dir)
	}
}

// left reports whether LeftFolders returns a folder, and why it was left.
func left(path string) (why string, found bool) {
	folders := LeftFolders()
	i := slices.IndexFunc(folders, func(f LeftFolder) bool { return f.Path == path })
	if i < 0 {
		return "", false
	}
	return folders[i].Why, true
}
