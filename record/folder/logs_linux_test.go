package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// newTestLogs makes a capture's folder and a log folder, as a recording does.
func newTestLogs(t *testing.T) (*Capture, *Logs) {
	t.Helper()
	folder, err := New(filepath.Join(t.TempDir(), "capture"))
	require.NoError(t, err)
	_, err = folder.MakeLogs()
	require.NoError(t, err)
	t.Cleanup(func() { folder.release() })
	return folder, folder.logs
}

// logName returns the path of a log, with the process id as HotSpot writes it.
func logName(l *Logs, pid string) string {
	return strings.ReplaceAll(l.Pattern(), "%p", "pid"+pid)
}

func TestGather(t *testing.T) {
	folder, logs := newTestLogs(t)
	require.NoError(t, os.WriteFile(logName(logs, "4711"), []byte("<hotspot_log>"), 0o644))
	head, tail := strayName(logs.Path)
	stray := filepath.Join(HotSpotTemp, head+"4712"+tail)
	require.NoError(t, os.WriteFile(stray, []byte("<hotspot_log stray>"), 0o644))

	// Files that other users may have put into the folder must be neither moved nor read.
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(secret, logName(logs, "1")))
	require.NoError(t, syscall.Mkfifo(logName(logs, "2"), 0o666))
	linked := filepath.Join(logs.parent, "linked")
	require.NoError(t, os.WriteFile(linked, []byte("secret"), 0o600))
	require.NoError(t, os.Link(linked, logName(logs, "3")))
	require.NoError(t, os.Mkdir(logName(logs, "4"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(logs.Path, "asm-pid5.log"), nil, 0o600))

	err := logs.Gather(folder.Path)
	require.ErrorContains(t, err, "taking the log of JVM 3: it is not a regular file")
	found, err := capture.Logs(folder.Path)
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(folder.Path, "asm-4711.log"), filepath.Join(folder.Path, "asm-4712.log")},
		found)
	for path, want := range map[string]string{found[0]: "<hotspot_log>", found[1]: "<hotspot_log stray>",
		secret: "secret"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(), path)
	}
	assert.NoFileExists(t, stray)
	folder.Keep()
	assert.Empty(t, folder.InUse())
	assert.NoDirExists(t, logs.Path)
}

// TestCopyLog checks that a log on another file system is copied, as far as there is room.
func TestCopyLog(t *testing.T) {
	dir := t.TempDir()
	log, to := filepath.Join(dir, "log"), filepath.Join(dir, "to")
	require.NoError(t, os.WriteFile(log, []byte("<hotspot_log>"), 0o644))
	require.NoError(t, copyLog(log, to, noLimit))
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Equal(t, "<hotspot_log>", string(text))
	require.NoError(t, os.Symlink(log, filepath.Join(dir, "link")))
	require.ErrorIs(t, copyLog(filepath.Join(dir, "link"), to+"2", noLimit), syscall.ELOOP)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666))
	require.ErrorContains(t, copyLog(filepath.Join(dir, "pipe"), to+"3", noLimit), "not a regular file")
	require.ErrorIs(t, copyLog(log, to, noLimit), os.ErrExist)

	disk := gasmtest.NeedSmallDisk(t, "64k")
	require.NoError(t, os.WriteFile(log, make([]byte, 1<<20), 0o644))
	part := filepath.Join(disk, "asm-1.log")
	require.ErrorIs(t, takeLog(log, part, noLimit), syscall.ENOSPC)
	info, err := os.Stat(part)
	require.NoError(t, err)
	assert.Positive(t, info.Size())
}

// TestTakeLogLimits checks that a file is not taken if it is too large, or if it takes no space on the disk.
func TestTakeLogLimits(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		size, limit int64
		want        string
	}{
		"large":  {1001, 1000, "it has 1001 bytes, and gasm takes 1000"},
		"sparse": {1 << 40, noLimit, "it has 1099511627776 bytes, of which 0 are on disk: no JVM writes such a file"},
		"rings":  {70 << 20, 512 << 20, ""}, // possible on a file system that compresses files
	} {
		for what, take := range map[string]func(from, to string, limit int64) error{"moved": takeLog, "copied": copyLog} {
			from, to := filepath.Join(dir, name), filepath.Join(dir, name+" "+what)
			f, err := os.Create(from)
			require.NoError(t, err)
			require.NoError(t, errors.Join(f.Truncate(c.size), f.Close()))
			if err := take(from, to, c.limit); c.want != "" {
				require.EqualError(t, err, c.want)
				assert.NoFileExists(t, to)
			} else {
				require.NoError(t, err)
			}
		}
	}
}

// TestLogTail checks the length of a log's name. HotSpot looks for %p in the whole path, but uses the position in the
// name alone; see logTail. The name must be long enough for that, and not too long for the file system.
func TestLogTail(t *testing.T) {
	for length := 1; length <= maxLogFolder; length++ {
		folder := strings.Repeat("d", length)
		name := logHead + "%p" + logTail(folder)
		at := strings.Index(folder+"/"+name, "%p")
		assert.GreaterOrEqual(t, len(name), at+len("%p"), "a folder of %d bytes", length)
		assert.LessOrEqual(t, len(name)-len("%p")+len("pid4194304"), 255, "a folder of %d bytes", length)
		head, tail := strayName(folder)
		assert.Equal(t, name[:at]+"pid"+name[at+2:], head+tail)
	}
	assert.NotContains(t, logTail("/tmp/secret"), "secret")
}

// TestLogFolderPlaces checks where the folder for logs is. Usually it is in a parent folder that all users can pass
// through. If the capture is on another file system, it is in the capture, unless its path would then be too long for
// HotSpot.
func TestLogFolderPlaces(t *testing.T) {
	_, logs := newTestLogs(t)
	if logs.own && logs.Closed == "" {
		for path, want := range map[string]os.FileMode{logs.parent: 0o711, logs.Path: 0o733 | os.ModeSticky} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, want, info.Mode()&^os.ModeDir, path)
		}
	}
	disk := gasmtest.NeedSmallDisk(t, "1m")
	long := disk + strings.Repeat("/a-folder-with-a-long-name", 12)
	require.NoError(t, os.MkdirAll(long, 0o755))
	for _, c := range []struct {
		name, dir string
		inCapture bool
	}{
		{"on another file system", filepath.Join(disk, "capture"), true},
		{"with a long path", filepath.Join(long, "capture"), false},
	} {
		folder, err := New(c.dir)
		require.NoError(t, err)
		_, err = folder.MakeLogs()
		require.NoError(t, err, c.name)
		assert.Equal(t, c.inCapture, folder.logsInside(), c.name)
		folder.Keep()
		left, err := os.ReadDir(c.dir)
		require.NoError(t, err)
		assert.Empty(t, left, c.name)
		info, err := os.Stat(c.dir)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), c.name)
	}
}

func TestPassable(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	below := filepath.Join(closed, "below")
	require.NoError(t, os.MkdirAll(below, 0o755))
	require.NoError(t, os.Chmod(closed, 0o770))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(below, link))
	for path, want := range map[string]bool{"/": true, "/usr/bin": true, below: false, link: false, dir + "/none": false} {
		assert.Equal(t, want, passable(path), path)
	}
}
