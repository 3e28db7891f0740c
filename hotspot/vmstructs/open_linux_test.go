package vmstructs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
)

// startPaused starts a JVM that stops before it runs any Java, with libjvm.so loaded. It
// ends with the test.
func startPaused(t *testing.T, java string) *exec.Cmd {
	t.Helper()
	paused := filepath.Join(t.TempDir(), "paused")
	cmd := exec.Command(java, "-XX:+UnlockDiagnosticVMOptions", "-XX:+PauseAtStartup", "-XX:PauseAtStartupFile="+paused, "-version")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	require.Eventually(t, func() bool {
		_, err := os.Stat(paused)
		return err == nil
	}, 20*time.Second, 5*time.Millisecond, "the JVM makes this file when it stops")
	return cmd
}

// TestOpen reads the tables of each JDK here.
func TestOpen(t *testing.T) {
	jdks := gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		t.Run(jdk.Name(), func(t *testing.T) {
			cmd := startPaused(t, jdk.Java())
			pid := cmd.Process.Pid
			vm, err := Open(pid)
			require.NoError(t, err)
			assert.Equal(t, jdk.Feature, vm.Release)
			t.Logf("%d offsets, %d statics, %d sizes, %d ints", len(vm.tables.offsets), len(vm.tables.statics), len(vm.tables.sizes), len(vm.tables.ints))
			// The least of JDK 8 to 28 are 492 and 80 (JDK 28's), 334 (26's) and 224 (8's). Much less would be a table that was not
			// read to its end.
			assert.Greater(t, len(vm.tables.offsets), 400)
			assert.Greater(t, len(vm.tables.statics), 60)
			assert.Greater(t, len(vm.tables.sizes), 250)
			assert.Greater(t, len(vm.tables.ints), 180)
			size, ok := vm.Size("Symbol")
			require.True(t, ok)
			body, ok := vm.Offset("Symbol::_body")
			require.True(t, ok)
			assert.Less(t, body, size, "a field lies within its type")
			version, ok := vm.Static("Abstract_VM_Version::_vm_major_version")
			require.True(t, ok)

			require.NoError(t, cmd.Process.Kill())
			require.NoError(t, unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
			_, err = Open(pid)
			require.ErrorIs(t, err, syscall.ESRCH, "its parent has not waited for it yet")
			cmd.Wait()
			_, err = Open(pid)
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = vm.Uint32(version)
			require.ErrorIs(t, err, syscall.ESRCH)
		})
	}
}

// startCopy starts a copy of the program sleep under another name. It ends with the
// test.
func startCopy(t *testing.T, name string) (pid int, path string) {
	t.Helper()
	data, err := os.ReadFile(gasmtest.NeedTool(t, "sleep", "coreutils have it"))
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o755))
	cmd := exec.Command(path, "100")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid, path
}

func TestOpenNoJVM(t *testing.T) {
	pid, _ := startCopy(t, "sleep")
	_, err := Open(pid)
	require.ErrorContains(t, err, fmt.Sprintf("process %d has not loaded libjvm.so", pid))
	pid, path := startCopy(t, "libjvm.so")
	_, err = Open(pid)
	require.ErrorContains(t, err, path+" does not export gHotSpotVMStructs")
}

// TestReplacedLibrary: a JDK that was updated has another libjvm.so at the path of the
// one that a JVM has loaded.
func TestReplacedLibrary(t *testing.T) {
	pid, path := startCopy(t, "libjvm.so")
	library, err := findLibJVM(pid)
	require.NoError(t, err)
	before, err := exportedSymbols(library)
	require.NoError(t, err)
	require.NotEmpty(t, before)

	update := path + ".new"
	require.NoError(t, os.WriteFile(update, []byte("another file"), 0o755))
	require.NoError(t, os.Rename(update, path))
	check := func(m native.Mapping) {
		t.Helper()
		after, err := exportedSymbols(m)
		if os.Geteuid() == 0 {
			require.NoError(t, err)
			assert.Equal(t, before, after)
		} else {
			require.ErrorContains(t, err, "if it was updated, start the JVM again")
			require.NotErrorIs(t, err, fs.ErrNotExist)
		}
	}
	check(library) // as read before the update
	library, err = findLibJVM(pid)
	require.NoError(t, err)
	assert.True(t, library.Deleted)
	check(library)

	// The file at the path of a deleted one is never right, even if it got the same inode.
	library.Path, library.Inode, library.Lo = update, 0, library.Lo+1
	require.NoError(t, os.Link(path, update))
	_, err = exportedSymbols(library)
	require.ErrorContains(t, err, "if it was updated, start the JVM again")
}

func TestAllowedBy(t *testing.T) {
	cases := []struct {
		scope    string
		mayTrace bool
		refused  bool
	}{
		{"", false, false}, // no Yama
		{"0", false, false},
		{"1", false, false}, // gasm is the JVM's parent
		{"2", false, true},
		{"2", true, false},
		{"3", true, true},
		{"4", true, true},
	}
	require.NotEmpty(t, cases)
	for _, c := range cases {
		err := allowedBy(c.scope, c.mayTrace)
		if c.refused {
			require.ErrorContains(t, err, "kernel.yama.ptrace_scope is "+c.scope)
		} else {
			require.NoError(t, err, "%+v", c)
		}
	}
}

// TestProcessMemory reads the test's own memory, across the end of what is mapped.
func TestProcessMemory(t *testing.T) {
	require.NoError(t, Allowed())
	self := processMemory(os.Getpid())
	pages, err := unix.Mmap(-1, 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer unix.Munmap(pages)
	end := os.Getpagesize()
	copy(pages[end-4:], "text")
	require.NoError(t, unix.Mprotect(pages[end:], unix.PROT_NONE))
	at := uint64(uintptr(unsafe.Pointer(&pages[end-4])))
	m := Memory{self}
	got, err := m.Read(nil, at, 4)
	require.NoError(t, err)
	assert.Equal(t, "text", string(got))
	_, err = m.Read(nil, at, 5)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = m.Read(nil, at+4, 1)
	require.ErrorIs(t, err, syscall.EFAULT)
	got, err = m.Read(nil, 0, 0)
	require.NoError(t, err)
	assert.Empty(t, got)
}
