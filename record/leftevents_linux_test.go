package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A note names a folder that gasm may remove, so only one of gasm's own is believed.
func TestReadEventNote(t *testing.T) {
	secret := strings.Repeat("a", secretLength)
	for path, want := range map[string]string{
		"/tmp/gasm-jvm-" + secret:               "logs or records events into",
		"/tmp/gasm-probes-4711":                 "counts for probes of a gasm that was killed, into",
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
		require.NoError(t, os.WriteFile(filepath.Join(dir, eventNoteFile), fmt.Appendf(nil, "12 34 %s\n", path), 0o600))
		n, ok := readEventNote(dir)
		require.Equal(t, want != "", ok, path)
		if ok {
			assert.Equal(t, &eventNote{pid: 12, ticks: 34, path: path, dir: dir}, n)
			assert.Equal(t, fmt.Sprintf("JVM 12 still %s %s: `gasm attach --events default --length 1s 12` ends it", want, path), n.left())
		}
	}
}

// What a killed gasm has noted of a JVM that has ended is removed, and of one that runs it is told.
func TestEventNotes(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pid := os.Getpid()
	alive, err := leaveEventNote(pid, startTicks(pid), "/tmp/gasm-probes-2147483646")
	require.NoError(t, err)
	t.Cleanup(alive.forget)
	ended, err := leaveEventNote(pid, startTicks(pid)+1, "/tmp/gasm-probes-2147483647") // another process has its id now
	require.NoError(t, err)
	t.Cleanup(ended.forget)
	require.NoError(t, os.Mkdir(ended.path, 0o700))
	t.Cleanup(func() { os.RemoveAll(ended.path) })
	assert.NotContains(t, LeftEvents(), alive.left(), "a gasm that lives has it")
	assert.DirExists(t, ended.dir)
	alive.lock.close() // as the kernel does
	ended.lock.close()
	assert.Contains(t, LeftEvents(), alive.left())
	assert.NotContains(t, LeftEvents(), ended.left())
	assert.NoDirExists(t, ended.dir)
	assert.NoDirExists(t, ended.path)
	assert.DirExists(t, alive.dir)
}

// The folder of a JVM that runs is removed when all is off again, and that of one that has ended, by gasm profile, too.
func TestLeftFoldersOfJVMs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pid := os.Getpid()
	off, err := leaveEventNote(pid, startTicks(pid), jvmFolderPath())
	require.NoError(t, err)
	t.Cleanup(off.forget)
	ended, err := leaveEventNote(pid, startTicks(pid)+1, jvmFolderPath())
	require.NoError(t, err)
	t.Cleanup(ended.forget)
	for _, n := range []*eventNote{off, ended} {
		t.Cleanup(func() { os.RemoveAll(n.path) })
		require.NoError(t, os.Mkdir(n.path, 0o700))
	}
	off.switchedOff()
	read, ok := readEventNote(off.dir)
	require.True(t, ok)
	assert.Equal(t, &eventNote{pid: pid, ticks: off.ticks, path: off.path, dir: off.dir, off: true}, read)
	sweep()
	assert.DirExists(t, off.path, "a gasm that lives has it")
	off.lock.close() // as the kernel does
	ended.lock.close()
	sweep()
	for _, n := range []*eventNote{off, ended} {
		assert.NoDirExists(t, n.path)
		assert.NoDirExists(t, n.dir)
	}
}
