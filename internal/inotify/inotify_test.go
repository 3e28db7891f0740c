package inotify

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for a signal that must come. It is much longer than anything takes on a busy
// machine, so only a failing test waits that long.
const patience = 20 * time.Second

func requireTold(t *testing.T, c <-chan struct{}, of string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("no signal for %s", of)
	}
}

// assertSilent fails the test if a signal comes. It waits only briefly; a signal takes about 10 µs.
func assertSilent(t *testing.T, c <-chan struct{}, about string) {
	t.Helper()
	select {
	case <-c:
		t.Errorf("a signal for %s", about)
	case <-time.After(50 * time.Millisecond):
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestNewFiles runs with inotify and without it.
func TestNewFiles(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	f := NewFiles(dir)
	defer f.Close()
	write(t, filepath.Join(dir, "created"), "")
	requireTold(t, f.C, "a file that was created")
	write(t, filepath.Join(elsewhere, "moved"), "")
	require.NoError(t, os.Rename(filepath.Join(elsewhere, "moved"), filepath.Join(dir, "moved")))
	requireTold(t, f.C, "a file that was moved to the folder")
	for i := range 10 {
		write(t, filepath.Join(dir, string(rune('a'+i))), "")
	}
	requireTold(t, f.C, "ten files")
}

// TestPoll watches a folder that does not exist yet, for which inotify can't be used.
func TestPoll(t *testing.T) {
	start := time.Now()
	f := NewFiles(filepath.Join(t.TempDir(), "none"))
	for range 3 {
		requireTold(t, f.C, "the end of an interval")
	}
	assert.GreaterOrEqual(t, time.Since(start), 2*pollInterval,
		"three signals, one of which may follow a late one at once")
	f.Close()
	time.Sleep(2 * pollInterval)
	select {
	case <-f.C: // it came before Close
	default:
	}
	assertSilent(t, f.C, "an interval after Close")
}
