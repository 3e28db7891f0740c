package cfi

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
)

// TestProcess walks the stack of a process that waits in a system call, from the C library to the program's _start.
func TestProcess(t *testing.T) {
	cmd := exec.Command(gasmtest.NeedTool(t, "sleep", "it is in coreutils"), "600")
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	awaitSystemCall(t, cmd.Process.Pid, unix.SYS_CLOCK_NANOSLEEP)
	r, stack := stopped(t, cmd.Process.Pid)
	p := process{t: t, files: map[string]*processFile{}}
	var err error
	p.mappings, err = native.ReadMaps(cmd.Process.Pid)
	require.NoError(t, err)
	var frames []string
	for exact, result := true, Caller; result == Caller; exact = false {
		m, file := p.find(r.PC)
		addr := file.address(r.PC - m.Lo + m.FileOffset)
		frames = append(frames, fmt.Sprintf("%s+%#x", m.Path, addr))
		sp, _ := r.Get(rsp)
		result, err = file.table.Unwind(addr, exact, &r, stack)
		require.NoError(t, err)
		if after, _ := r.Get(rsp); result == Caller {
			require.Greater(t, after, sp)
			continue
		}
		require.Equal(t, Bottom, result, frames)
		// A program begins at _start, which has no caller.
		start, ok := file.table.find(file.entry)
		require.True(t, ok)
		assert.True(t, addr > start.lo && addr <= start.lo+uint64(start.size), frames)
	}
	t.Log(strings.Join(frames, "\n"))
	assert.Greater(t, len(frames), 4, "nanosleep, main, and the two functions of the C library that call main")
}

// awaitSystemCall waits until a process is in a system call.
func awaitSystemCall(t *testing.T, pid, number int) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
		return err == nil && strings.HasPrefix(string(text), fmt.Sprint(number, " "))
	}, time.Minute, time.Millisecond)
}

// stopped stops a process for a moment, and returns its registers and a copy of its stack.
func stopped(t *testing.T, pid int) (Registers, Memory) {
	t.Helper()
	runtime.LockOSThread() // all calls of ptrace must be from one thread
	defer runtime.UnlockOSThread()
	require.NoError(t, unix.PtraceSeize(pid))
	require.NoError(t, unix.PtraceInterrupt(pid))
	var status unix.WaitStatus
	_, err := unix.Wait4(pid, &status, unix.WALL, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	var u unix.PtraceRegs
	require.NoError(t, unix.PtraceGetRegs(pid, &u))
	r := Registers{PC: u.Rip}
	for i, value := range []uint64{u.Rax, u.Rdx, u.Rcx, u.Rbx, u.Rsi, u.Rdi, u.Rbp, u.Rsp, u.R8, u.R9, u.R10, u.R11,
		u.R12, u.R13, u.R14, u.R15} {
		r.Set(i, value)
	}
	file, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	require.NoError(t, err)
	defer file.Close()
	stack := Memory{Base: u.Rsp, Data: make([]byte, 64<<10)}
	n, _ := file.ReadAt(stack.Data, int64(u.Rsp)) // the stack may end earlier
	stack.Data = stack.Data[:n]
	require.NoError(t, unix.PtraceDetach(pid))
	return r, stack
}

// A process holds the files that are mapped in one process.
type process struct {
	t        *testing.T
	mappings []native.Mapping
	files    map[string]*processFile
}

type processFile struct {
	table   *Table
	entry   uint64
	address func(offset uint64) uint64 // converts an offset in the file to an address of the ELF file's own
}

// find returns the mapping that contains an address, and its file.
func (p *process) find(pc uint64) (native.Mapping, *processFile) {
	p.t.Helper()
	for _, m := range p.mappings {
		if pc < m.Lo || pc >= m.Hi {
			continue
		}
		if p.files[m.Path] == nil {
			p.files[m.Path] = p.open(m.Path)
		}
		return m, p.files[m.Path]
	}
	p.t.Fatalf("%#x is in no file", pc)
	return native.Mapping{}, nil
}

func (p *process) open(path string) *processFile {
	p.t.Helper()
	file, err := os.Open(path)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { file.Close() })
	f, err := native.NewELF(file)
	require.NoError(p.t, err)
	table, err := New(f)
	require.NoError(p.t, err)
	require.NoError(p.t, table.Damage())
	return &processFile{table, f.Entry, func(offset uint64) uint64 {
		for _, s := range f.Progs {
			if offset-s.Off < s.Filesz && offset >= s.Off && s.Flags&1 != 0 { // PF_X
				return offset - s.Off + s.Vaddr
			}
		}
		p.t.Fatalf("%s: no segment has the offset %#x", path, offset)
		return 0
	}}
}

// TestRestoreRT: the C library's __restore_rt finds all registers in the ucontext that the kernel has written for a
// signal (arch/x86/include/uapi/asm/sigcontext.h, struct sigcontext_64).
func TestRestoreRT(t *testing.T) {
	found := 0
	for _, path := range libc(t) {
		table := open(t, path)
		for _, f := range table.functions {
			if table.arch.sp != rsp || !table.row(f.lo).signal {
				continue
			}
			found++
			words := make([]uint64, 64)
			for i := range words {
				words[i] = uint64(1000 + i)
			}
			// After 40 bytes: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
			want := registers(1000+5+16, 8, 1005, 9, 1006, 10, 1007, 11, 1008, 12, 1009, 13, 1010, 14, 1011, 15, 1012,
				5, 1013, 4, 1014, rbp, 1015, rbx, 1016, 1, 1017, rax, 1018, 2, 1019, rsp, 1020)
			r := registers(f.lo+1, rsp, stackBase)
			result, err := table.Unwind(r.PC, false, &r, stack(words...))
			require.NoError(t, err)
			assert.Equal(t, Interrupted, result)
			equal(t, want, r, path)
		}
	}
	assert.Positive(t, found)
}
