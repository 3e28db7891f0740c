package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/record/processend"
)

// leaveNote makes the note of a gasm that was killed, of a byte in this process.
func leaveNote(t *testing.T, text string) (dir string) {
	t.Helper()
	s := &debugInfoSwitch{}
	require.NoError(t, s.write())
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, debugInfoFile), []byte(text), 0o600))
	s.lock.Close()
	return s.dir
}

// A note is told of while the JVM lives and its flag is on. Any other one is removed.
func TestDebugInfoNotes(t *testing.T) {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON) // which the garbage collector leaves alone
	require.NoError(t, err)
	defer unix.Munmap(page)
	flag := &page[0]
	*flag = 1
	address := uint64(uintptr(unsafe.Pointer(flag)))
	pid, ticks := os.Getpid(), processend.StartTicks(os.Getpid())
	good := fmt.Sprintf("%d %d %d\n", pid, ticks, address)
	told := func() bool {
		return strings.Contains(strings.Join(LeftDebugInfo(), "\n"), fmt.Sprintf("in JVM %d,", pid))
	}
	exists := func(dir string) bool {
		_, err := os.Stat(dir)
		return err == nil
	}

	dir := leaveNote(t, good)
	sweep()
	assert.True(t, exists(dir), "it is not swept")
	assert.True(t, told())
	left := LeftFolders()
	require.NotEmpty(t, left)
	assert.Contains(t, left, LeftFolder{Path: dir, Why: "gasm was killed; " + debugInfoNote{pid, ticks, address}.left()})

	s := takeOver(debugInfoNote{pid, ticks, address})
	require.NotNil(t, s)
	assert.True(t, s.switched())
	assert.False(t, told(), "while the gasm that has taken it over lives")
	s.memory, err = openMemory(pid)
	require.NoError(t, err)
	require.NoError(t, s.restore())
	assert.Zero(t, *flag)
	assert.False(t, exists(dir))
	assert.Nil(t, takeOver(debugInfoNote{pid, ticks, address}), "the user's own")

	dir = leaveNote(t, good)
	assert.False(t, told(), "the flag is off")
	assert.False(t, exists(dir))
	*flag = 1
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	for what, text := range map[string]string{
		"another process has the id":  fmt.Sprintf("%d %d %d\n", pid, ticks-1, address),
		"the process has ended":       fmt.Sprintf("%d %d %d\n", dead.Process.Pid, ticks, address),
		"no numbers":                  "a b c",
		"nothing":                     "",
		"more than a note":            strings.Repeat("1", 2000),
		"a number that is too large ": fmt.Sprintf("%d %d 99999999999999999999999", pid, ticks),
	} {
		dir = leaveNote(t, text)
		assert.False(t, told(), what)
		assert.False(t, exists(dir), what)
	}
}

// A process that is no JVM, or has ended, is told of.
func TestSwitchDebugInfoRefused(t *testing.T) {
	s, err := switchDebugInfo(t.Context(), os.Getpid(), processend.StartTicks(os.Getpid()))
	require.ErrorContains(t, err, "--debug-info: ")
	assert.Nil(t, s)
}
