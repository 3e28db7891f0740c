package inotify

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestNewFilesOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	write(t, path, "")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "below"), 0o700))
	f := NewFiles(dir)
	defer f.Close()
	write(t, path, "a line\n")
	write(t, filepath.Join(dir, "below", "file"), "")
	require.NoError(t, os.Remove(path))
	assertSilent(t, f.C, "no new file")
}

func TestNextWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(path)
	require.NoError(t, err)
	defer log.Close()
	line := func() {
		t.Helper()
		_, err := log.WriteString("a line\n")
		require.NoError(t, err)
	}
	f := NextWrite(path)
	defer f.Close()
	line()
	assertSilent(t, f.C, "a write before Arm")
	for range 3 {
		require.True(t, f.Arm())
		assertSilent(t, f.C, "nothing")
		line()
		requireTold(t, f.C, "a write")
		select {
		case <-f.C: // the end of the watch itself may be signalled, too
		case <-time.After(10 * time.Millisecond):
		}
		line()
		assertSilent(t, f.C, "a second write")
	}
	require.True(t, f.Arm())
	line()
	require.True(t, f.Arm(), "the signal of a write was not received")
	line()
	requireTold(t, f.C, "a write")

	require.NoError(t, os.Remove(path))
	assert.False(t, f.Arm(), "there is no such file any more")
}

// TestNoInotify uses up all descriptors, so that inotify can't be used, as on a machine that has no inotify instance
// left.
func TestNoInotify(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	write(t, path, "")
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	folder, file := NewFiles(dir), NextWrite(path)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	defer folder.Close()
	defer file.Close()
	assert.False(t, file.Arm())
	write(t, filepath.Join(dir, "new"), "")
	requireTold(t, folder.C, "a new file, or the end of an interval")
	requireTold(t, folder.C, "the end of the next interval")
}

// TestCloseFreesDescriptors: Close must free the inotify instance, because on many machines a user may have only 128 of
// them.
func TestCloseFreesDescriptors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	write(t, path, "")
	descriptors := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(open)
	}
	before := descriptors()
	for range 5 {
		folder, file := NewFiles(dir), NextWrite(path)
		require.True(t, file.Arm())
		folder.Close()
		file.Close()
	}
	require.Eventually(t, func() bool { return descriptors() <= before }, patience, time.Millisecond,
		"the reading goroutines close them")
}

// WatchOpens signals whenever the watched file is opened, but not when another file is opened.
func TestWatchOpens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libjvm.so")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	w := WatchOpens(path)
	require.NotNil(t, w)
	defer w.Close()
	for range 3 {
		require.NoError(t, os.WriteFile(path+".other", nil, 0o600))
		assert.Empty(t, w.C)
		f, err := os.Open(path)
		require.NoError(t, err)
		f.Close()
		select {
		case <-w.C:
		case <-time.After(10 * time.Second):
			t.Fatal("no signal")
		}
	}
	assert.Nil(t, WatchOpens(path+".missing"))
	var none *Opens
	none.Close()
}
