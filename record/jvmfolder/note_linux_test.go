package jvmfolder

import (
	"context"
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

// TestReadEventNote checks which names of folders are accepted in a note. gasm may remove the folder, so the name
// must have the form of gasm's own names.
func TestReadEventNote(t *testing.T) {
	secret := strings.Repeat("a", lockedfolder.SecretLength)
	for path, want := range map[string]string{
		"/tmp/gasm-jvm-" + secret + "/" + secret:             "logs or records events for",
		"/tmp/gasm-probes-4711/" + secret:                    "counts for probes of",
		"/tmp/gasm-probes-4711-" + secret + "/" + secret:     "counts for probes of",
		"/tmp/gasm-jvm-":                                     "",
		"/tmp/gasm-jvm-" + secret:                            "logs or records events for", // of older releases
		"/tmp/gasm-jvm-" + secret[1:] + "/" + secret:         "",
		"/tmp/gasm-jvm-" + secret + "/" + secret + "a":       "",
		"/tmp/gasm-jvm-" + secret + "/" + secret + "/" + "a": "",
		"/tmp/gasm-jvm-" + secret + "/" + secret[2:] + "..":  "",
		"/tmp/gasm-jvm-" + secret + "/..":                    "",
		"/home/gasm-jvm-" + secret + "/" + secret:            "",
		"/tmp/gasm-probes-4711":                              "counts for probes of",
		"/tmp/gasm-probes-4711/..":                           "",
		"/":                                                  "",
		"../gasm-probes-4711/" + secret:                      "",
		"/tmp/gasm-probes-" + secret[:9] + "\n":              "",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, noteFile), fmt.Appendf(nil, "12 34 1000 100 %s\n", path), 0o600))
		n, ok := readNote(dir)
		require.Equal(t, want != "", ok, path)
		if ok {
			assert.Equal(t, &Note{pid: 12, ticks: 34, uid: 1000, gid: 100, Path: path, Dir: dir}, n)
			assert.Equal(t, fmt.Sprintf("JVM 12 still %s a gasm that has ended, into %s: `gasm attach` ends that as soon as the JVM answers", want, path), n.Left())
		}
	}
}

// self returns the user of this process.
func self() foreign.User { return foreign.User{UID: os.Geteuid(), GID: os.Getegid()} }

// isLeft reports whether EndLeft returns a message that it could not end what note n is about.
func isLeft(t *testing.T, n *Note) bool {
	t.Helper()
	ended, left := EndLeft(t.Context())
	assert.NotContains(t, strings.Join(ended, "\n"), n.Path)
	return slices.ContainsFunc(left, func(text string) bool { return strings.HasPrefix(text, n.Left()) })
}

// TestEventNotes checks that the note about a JVM that has ended is removed, with the JVM's folder. If a JVM runs,
// but does not stop its work, EndLeft must say so each time. This test's process is such a JVM.
func TestEventNotes(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pid := os.Getpid()
	alive, err := Leave(pid, processend.StartTicks(pid), self(), "/tmp/gasm-probes-2147483646/"+lockedfolder.SecretName(),
		"")
	require.NoError(t, err)
	t.Cleanup(alive.Forget)
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(alive.Path)) })
	ended, err := Leave(pid, processend.StartTicks(pid)+1, self(),
		"/tmp/gasm-probes-2147483647/"+lockedfolder.SecretName(), "") // another process has this id
	require.NoError(t, err)
	t.Cleanup(ended.Forget)
	require.NoError(t, os.MkdirAll(ended.Path, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(ended.Path), "agent.jar"), nil, 0o600))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(ended.Path)) })
	assert.False(t, isLeft(t, alive), "a gasm that runs holds it")
	assert.DirExists(t, ended.Dir)
	alive.lock.Close() // as the kernel does
	ended.lock.Close()
	for range 2 {
		assert.True(t, isLeft(t, alive))
	}
	assert.NoDirExists(t, ended.Dir)
	assert.NoDirExists(t, filepath.Dir(ended.Path))
	assert.DirExists(t, alive.Dir)
}

// TestFolderOfEndedWorld ends the World before the folder is removed. The note must stay for the next gasm, which
// removes both and has nothing to say about the JVM.
func TestFolderOfEndedWorld(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	w, err := foreign.OwnWorld(ctx, self())
	require.NoError(t, err)
	defer w.Close()
	pid := os.Getpid()
	n, err := Leave(pid, processend.StartTicks(pid), self(), NewPath(), "")
	require.NoError(t, err)
	t.Cleanup(n.Forget)
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(n.Path)) })
	f, err := New(w, n.Path)
	require.NoError(t, err)
	cancel()
	f.Remove()
	n.Done(w)
	assert.DirExists(t, n.Path)
	assert.DirExists(t, n.Dir)
	ended, left := EndLeft(t.Context())
	assert.NotContains(t, strings.Join(slices.Concat(ended, left), "\n"), n.Path)
	assert.NoDirExists(t, filepath.Dir(n.Path))
	assert.NoDirExists(t, n.Dir)
}

// TestNoteOfStarted checks that a note keeps the name of a recording that began with the JVM's start, whether
// everything is switched off again or not. A name that is not in the form of gasm's names must not be accepted.
func TestNoteOfStarted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, valid := range map[string]bool{"": true, RecordingName(): true, "user": false,
		RecordingName() + "0": false} {
		n, err := Leave(os.Getpid(), processend.StartTicks(os.Getpid()), self(), NewPath(), name)
		require.NoError(t, err)
		for _, off := range []bool{false, true} {
			if off {
				n.SwitchedOff()
			}
			got, ok := readNote(n.Dir)
			require.Equal(t, valid, ok, name)
			if ok {
				assert.Equal(t, name, got.started)
				assert.Equal(t, off, got.off)
				assert.Equal(t, n.Path, got.Path)
			}
		}
		n.Forget()
	}
}

// TestNoteDone checks that if the folder was removed, the note is removed completely.
func TestNoteDone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, err := foreign.OwnWorld(t.Context(), self())
	require.NoError(t, err)
	defer w.Close()
	n, err := Leave(os.Getpid(), processend.StartTicks(os.Getpid()), self(), NewPath(), "")
	require.NoError(t, err)
	f, err := New(w, n.Path)
	require.NoError(t, err)
	f.Remove()
	n.Done(w)
	assert.NoDirExists(t, filepath.Dir(n.Path))
	assert.NoDirExists(t, n.Dir)
}

// TestLeftFoldersOfJVMs checks that the folder of a running JVM is removed if everything is switched off again, and
// so is the folder of a JVM that has ended.
func TestLeftFoldersOfJVMs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pid := os.Getpid()
	off, err := Leave(pid, processend.StartTicks(pid), self(), NewPath(), "")
	require.NoError(t, err)
	t.Cleanup(off.Forget)
	ended, err := Leave(pid, processend.StartTicks(pid)+1, self(), NewPath(), "")
	require.NoError(t, err)
	t.Cleanup(ended.Forget)
	for _, n := range []*Note{off, ended} {
		t.Cleanup(func() { os.RemoveAll(filepath.Dir(n.Path)) })
		require.NoError(t, os.MkdirAll(n.Path, 0o700))
		for _, name := range []string{LogFile, LogFile + ".0", RecordingFile, SettingsFile} {
			require.NoError(t, os.WriteFile(filepath.Join(n.Path, name), nil, 0o600))
		}
	}
	off.SwitchedOff()
	read, ok := readNote(off.Dir)
	require.True(t, ok)
	assert.Equal(t, &Note{pid: pid, ticks: off.ticks, uid: self().UID, gid: self().GID, Path: off.Path, Dir: off.Dir,
		off: true}, read)
	EachLeft(t.Context(), func(*Note) {})
	assert.DirExists(t, off.Path, "a gasm that runs holds it")
	off.lock.Close() // as the kernel does
	ended.lock.Close()
	EachLeft(t.Context(), func(*Note) {})
	for _, n := range []*Note{off, ended} {
		assert.NoDirExists(t, filepath.Dir(n.Path))
		assert.NoDirExists(t, n.Dir)
	}
}

// TestBegunFolder checks that a folder that a killed gasm had only begun to make is removed, but not a folder of this
// name that belongs to another user.
func TestBegunFolder(t *testing.T) {
	w, err := foreign.OwnWorld(t.Context(), self())
	require.NoError(t, err)
	defer w.Close()
	path := NewPath()
	outer := filepath.Dir(path)
	t.Cleanup(func() { os.RemoveAll(outer) })
	remove(w, path)
	require.NoError(t, os.Mkdir(outer, 0o700))
	remove(w, path)
	assert.NoDirExists(t, outer)
	require.NoError(t, os.Mkdir(outer, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(outer, LogFile), nil, 0o600))
	remove(w, outer) // an older release made only the outer folder
	assert.NoDirExists(t, outer)
	require.NoError(t, os.MkdirAll(path, 0o700))
	require.NoError(t, os.Chmod(outer, 0o777))
	remove(w, path)
	assert.DirExists(t, path)
	_, err = New(w, path)
	require.ErrorContains(t, err, "file exists")
	assert.DirExists(t, path)
}
