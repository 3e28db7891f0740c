package debuginfo

import (
	"bufio"
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

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/record/processend"
)

// leaveNote makes a note with the given text, in the form in which a killed gasm leaves it.
func leaveNote(t *testing.T, text string) (dir string) {
	t.Helper()
	s := &Switch{}
	require.NoError(t, s.write())
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, noteFile), []byte(text), 0o600))
	s.lock.Close()
	return s.dir
}

// leftTexts returns what EachLeft reports, each as "folder: text".
func leftTexts(t *testing.T) (texts []string) {
	t.Helper()
	EachLeft(t.Context(), func(dir, text string) { texts = append(texts, dir+": "+text) })
	return texts
}

// TestDebugInfoNotes checks that EachLeft reports a note while the JVM runs and its flag is on, and removes all other
// notes.
func TestDebugInfoNotes(t *testing.T) {
	// not managed by Go
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer unix.Munmap(page)
	flag := &page[0]
	*flag = 1
	address := uint64(uintptr(unsafe.Pointer(flag)))
	pid, ticks := os.Getpid(), processend.StartTicks(os.Getpid())
	good := fmt.Sprintf("%d %d %d\n", pid, ticks, address)
	told := func() bool {
		return strings.Contains(strings.Join(leftTexts(t), "\n"), fmt.Sprintf("in JVM %d,", pid))
	}
	exists := func(dir string) bool {
		_, err := os.Stat(dir)
		return err == nil
	}

	dir := leaveNote(t, good)
	assert.True(t, told())
	assert.Contains(t, leftTexts(t), dir+": "+note{pid, ticks, address}.left())

	s := takeOver(t.Context(), note{pid, ticks, address})
	require.NotNil(t, s)
	assert.True(t, s.Switched())
	assert.False(t, told(), "while the gasm that has taken it over runs")
	s.memory, err = openMemory(pid)
	require.NoError(t, err)
	require.NoError(t, s.Restore(t.Context()))
	assert.Zero(t, *flag)
	assert.False(t, exists(dir))
	assert.Nil(t, takeOver(t.Context(), note{pid, ticks, address}), "the user has switched it on")

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

// TestSwitchDebugInfoRefused checks that SwitchOn returns an error for a process that is not a JVM.
func TestSwitchDebugInfoRefused(t *testing.T) {
	s, err := SwitchOn(t.Context(), os.Getpid(), processend.StartTicks(os.Getpid()))
	require.ErrorContains(t, err, "--debug-info: ")
	assert.Nil(t, s)
}

// spinning starts a JVM that spins, and opens it.
func spinning(t *testing.T, flags ...string) (pid int, vm *vmstructs.VM) {
	t.Helper()
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 17, gasmtest.Testdata("programs", "Spin.java"))
	jvm := exec.Command(gasmtest.NeedJava(t), append(flags, "-Dsec=60", "-cp", classes, "Spin")...)
	out, err := jvm.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, jvm.Start())
	t.Cleanup(func() {
		_ = jvm.Process.Kill()
		_ = jvm.Wait()
	})
	require.True(t, bufio.NewScanner(out).Scan(), "it runs")
	vm, err = vmstructs.Open(jvm.Process.Pid)
	require.NoError(t, err)
	return jvm.Process.Pid, vm
}

// TestSwitchOnFor checks that the flag is switched on once, and only in the process from whose memory its address was
// read.
func TestSwitchOnFor(t *testing.T) {
	gasmtest.NeedNative(t)
	pid, vm := spinning(t)
	switched, err := SwitchOnFor(t.Context(), os.Getpid(), vm)
	require.Error(t, err, "this process has nothing at the addresses of the JVM")
	assert.False(t, switched)
	for _, want := range []bool{true, false} {
		switched, err = SwitchOnFor(t.Context(), pid, vm)
		require.NoError(t, err)
		assert.Equal(t, want, switched)
		flag, err := findIn(vm)
		require.NoError(t, err)
		assert.EqualValues(t, 1, flag.Value)
	}
	pid, vm = spinning(t, "-XX:+UnlockDiagnosticVMOptions", "-XX:-DebugNonSafepoints")
	switched, err = SwitchOnFor(t.Context(), pid, vm)
	require.NoError(t, err)
	assert.False(t, switched, "the user has set it")
}
