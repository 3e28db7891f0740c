package vmstructs

import (
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

// startPaused starts a JVM that stops before it runs any Java, with libjvm.so loaded. The JVM is killed at the end of
// the test.
func startPaused(t *testing.T, java string) *exec.Cmd {
	t.Helper()
	paused := filepath.Join(t.TempDir(), "paused")
	cmd := exec.Command(java, "-XX:+UnlockDiagnosticVMOptions", "-XX:+PauseAtStartup",
		"-XX:PauseAtStartupFile="+paused, "-version")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	require.Eventually(t, func() bool {
		_, err := os.Stat(paused)
		return err == nil
	}, time.Minute, 5*time.Millisecond, "the JVM makes this file when it stops")
	return cmd
}

// TestOpen reads the tables of each JDK on this machine.
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
			t.Logf("%d offsets, %d statics, %d sizes, %d ints", len(vm.tables.offsets), len(vm.tables.statics),
				len(vm.tables.sizes), len(vm.tables.ints))
			// The smallest counts in JDK 8 to 28 are 492 and 80 (JDK 28), 334 (JDK 26) and 224 (JDK 8). Much lower ones
			// would mean that a table was not read to its end.
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
			require.ErrorIs(t, err, syscall.ESRCH)
			_, err = vm.Uint32(version)
			require.ErrorIs(t, err, syscall.ESRCH)
		})
	}
}

// startCopy starts a copy of the program sleep under another name. The copy is killed at the end of the test.
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
	// Start returns when the kernel has given the process its new memory, which has no mappings at first.
	require.Eventually(t, func() bool {
		mappings, err := native.ReadMaps(cmd.Process.Pid)
		return err == nil && slices.ContainsFunc(mappings, func(m native.Mapping) bool { return m.Path == path })
	}, time.Minute, time.Millisecond)
	return cmd.Process.Pid, path
}

func TestOpenNoJVM(t *testing.T) {
	pid, _ := startCopy(t, "sleep")
	_, err := Open(pid)
	require.ErrorContains(t, err, fmt.Sprintf("process %d has not loaded libjvm.so", pid))
	var typed *OpenError
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, NoJVM, typed.Reason)
	pid, _ = startCopy(t, "libj9vm29.so")
	_, err = Open(pid)
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, OpenJ9, typed.Reason)
	pid, path := startCopy(t, "libjvm.so")
	_, err = Open(pid)
	require.ErrorContains(t, err, path+" does not export gHotSpotVMStructs")
}

// memoryOf returns the memory of a process.
func memoryOf(t *testing.T, pid int) *processMemory {
	t.Helper()
	m, err := newProcessMemory(pid)
	require.NoError(t, err)
	return m
}

// TestMemoryOfEnded checks that no memory is read by the id of a process that has ended.
func TestMemoryOfEnded(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	require.NoError(t, cmd.Start())
	m := memoryOf(t, cmd.Process.Pid)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	var text [1]byte
	_, err := m.ReadAt(text[:], 4096)
	assert.ErrorIs(t, err, syscall.ESRCH)
	_, err = newProcessMemory(cmd.Process.Pid)
	assert.ErrorIs(t, err, syscall.ESRCH)
}

// exportedSymbols returns the exported symbols of the libjvm.so in a process, and its mapping.
func exportedSymbols(t *testing.T, pid int) (map[string]uint64, native.Mapping) {
	t.Helper()
	library, err := findLibJVM(pid)
	require.NoError(t, err)
	img, err := findImage(Memory{reader: memoryOf(t, pid)}, library)
	require.NoError(t, err)
	symbols, err := img.exported()
	require.NoError(t, err)
	return symbols, library
}

// TestExported compares the symbols in memory with those of the file.
func TestExported(t *testing.T) {
	pid, path := startCopy(t, "libjvm.so")
	symbols, library := exportedSymbols(t, pid)
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	list, err := f.DynamicSymbols()
	require.NoError(t, err)
	want := map[string]uint64{}
	img, err := findImage(Memory{reader: memoryOf(t, pid)}, library)
	require.NoError(t, err)
	for _, s := range list {
		if s.Section != elf.SHN_UNDEF {
			want[s.Name] = s.Value + img.bias
		}
	}
	require.NotEmpty(t, want)
	assert.Equal(t, want, symbols)
}

// TestReplacedLibrary: after an update of the JDK, another libjvm.so is at the path of the one that a JVM has loaded.
// The exported symbols are in memory. The others are in the file, which only root can still open.
func TestReplacedLibrary(t *testing.T) {
	pid, path := startCopy(t, "libjvm.so")
	before, library := exportedSymbols(t, pid)
	require.NotEmpty(t, before)
	_, err := fileSymbols(library, nil)
	require.NoError(t, err)

	update := path + ".new"
	require.NoError(t, os.WriteFile(update, []byte("another file"), 0o755))
	require.NoError(t, os.Rename(update, path))
	check := func(m native.Mapping) {
		t.Helper()
		_, err := fileSymbols(m, nil)
		if os.Geteuid() == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "if it was updated, start the JVM again")
			require.NotErrorIs(t, err, fs.ErrNotExist)
		}
	}
	check(library) // as the library was found before the update
	after, library := exportedSymbols(t, pid)
	assert.Equal(t, before, after)
	assert.True(t, library.Deleted)
	check(library)

	// A file at the path of a deleted one is never the one that is mapped, even if it got the same inode.
	library.Path, library.Inode, library.Lo = update, 0, library.Lo+1
	require.NoError(t, os.Link(path, update))
	_, err = fileSymbols(library, nil)
	require.ErrorContains(t, err, "if it was updated, start the JVM again")
}

// TestSymbols looks up a function of HotSpot that is not exported.
func TestSymbols(t *testing.T) {
	// Debian strips the symbols of its JDK 8.
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature > 8 })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		t.Run(jdk.Name(), func(t *testing.T) {
			vm, err := Open(startPaused(t, jdk.Java()).Process.Pid)
			require.NoError(t, err)
			exported, ok := vm.Static("CodeCache::_heaps")
			require.True(t, ok)
			found, err := vm.Symbols("_ZN9CodeCache6_heapsE", "_ZN12StubCodeDesc5_listE", "no such symbol")
			require.NoError(t, err)
			assert.Equal(t, exported, found["_ZN9CodeCache6_heapsE"], "it is in HotSpot's tables as well")
			assert.Contains(t, found, "_ZN12StubCodeDesc5_listE")
			assert.Len(t, found, 2)
		})
	}
}

// TestFlags reads flags and the JVM's version.
func TestFlags(t *testing.T) {
	jdks := gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		t.Run(jdk.Name(), func(t *testing.T) {
			vm, err := Open(startPaused(t, jdk.Java()).Process.Pid)
			require.NoError(t, err)
			flags, err := vm.Flags("PauseAtStartup", "DebugNonSafepoints", "MaxInlineLevel", "PauseAtStartupFile",
				"NoSuchFlag")
			require.NoError(t, err)
			require.Len(t, flags, 4)
			assert.Equal(t, "bool", flags["PauseAtStartup"].Type)
			assert.Equal(t, uint64(1), flags["PauseAtStartup"].Value)
			assert.Equal(t, uint64(0), flags["DebugNonSafepoints"].Value)
			assert.True(t, flags["PauseAtStartup"].Given, "it is on the command line")
			assert.False(t, flags["MaxInlineLevel"].Given)
			assert.Contains(t, []uint64{9, 15}, flags["MaxInlineLevel"].Value&0xffff_ffff, "JDK 13 and older have 9")
			path, err := vm.Text(flags["PauseAtStartupFile"].Value)
			require.NoError(t, err)
			assert.Equal(t, "paused", filepath.Base(path))
			version, info, err := vm.Version()
			require.NoError(t, err)
			if jdk.Feature > 8 {
				assert.Contains(t, version, fmt.Sprint(jdk.Feature))
			}
			assert.Contains(t, info, version)
			assert.Contains(t, info, ") for linux-")
		})
	}
}

// TestRefused opens a process as a user who is not allowed to.
func TestRefused(t *testing.T) {
	if os.Getenv("GASM_TEST_OPEN") != "" {
		pid, err := strconv.Atoi(os.Getenv("GASM_TEST_OPEN"))
		require.NoError(t, err)
		_, err = Open(pid)
		var refused *OpenError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, Refused, refused.Reason)
		assert.ErrorContains(t, err, fmt.Sprintf("process %d can't be read: it belongs to another user "+
			"(open /proc/%d/maps: permission denied): run gasm as that user, or as root", pid, pid))
		return
	}
	gasmtest.NeedRoot(t)
	pid, _ := startCopy(t, "libjvm.so")
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	dir, err := os.MkdirTemp("/tmp", "gasm-test-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "test")
	require.NoError(t, os.WriteFile(program, self, 0o755))
	cmd := exec.Command(program, "-test.run", "^TestRefused$", "-test.v")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), fmt.Sprintf("GASM_TEST_OPEN=%d", pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "--- PASS: TestRefused")
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
	self := memoryOf(t, os.Getpid())
	pages, err := unix.Mmap(-1, 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer unix.Munmap(pages)
	end := os.Getpagesize()
	copy(pages[end-4:], "text")
	require.NoError(t, unix.Mprotect(pages[end:], unix.PROT_NONE))
	at := uint64(uintptr(unsafe.Pointer(&pages[end-4])))
	m := Memory{reader: self}
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

// TestGather reads pieces of the test's own memory, one of which is not mapped.
func TestGather(t *testing.T) {
	require.NoError(t, Allowed())
	m := Memory{reader: memoryOf(t, os.Getpid())}
	const count = 3000 // several system calls
	data := make([]byte, count)
	pieces := make([]Piece, count)
	for i := range pieces {
		data[i] = byte(i % 251)
		pieces[i] = Piece{uint64(uintptr(unsafe.Pointer(&data[i]))), make([]byte, 1)}
	}
	read, err := m.Gather(pieces)
	require.NoError(t, err)
	assert.Equal(t, count, read)
	for i, p := range pieces {
		require.Equal(t, data[i], p.Buf[0])
		p.Buf[0] = 0
	}
	pieces[1500].Addr = 8
	pieces[1501].Buf = nil
	read, err = m.Gather(pieces)
	assert.Equal(t, 1500, read)
	require.ErrorIs(t, err, syscall.EFAULT)
	require.ErrorContains(t, err, "reading 1 bytes at 0x8")
	ok, err := m.GatherSome(pieces)
	require.NoError(t, err)
	for i, p := range pieces {
		require.Equal(t, i != 1500, ok[i])
		if ok[i] && len(p.Buf) > 0 {
			require.Equal(t, data[i], p.Buf[0])
		}
	}
	_, err = m.Gather([]Piece{{0, make([]byte, maxRead+1)}})
	require.ErrorContains(t, err, "more than any structure of HotSpot has")
}
