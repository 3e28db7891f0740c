package hostile

import (
	"bytes"
	"context"
	"debug/elf"
	encoding "encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowLibrary is the source of a library that is preloaded into a JVM. A thread of the library maps all files of a
// folder, and runs code in each of them.
const slowLibrary = `
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void burn(void) { for (volatile int i = 0; i < 3000000; i++); }

static void *run(void *dir) {
	void (*code[1000])(void);
	int n = 0;
	struct dirent *e;
	DIR *d = opendir(dir);
	while (d && (e = readdir(d)) && n < 1000) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s", (char *)dir, e->d_name);
		int fd = open(path, O_RDWR);
		if (fd < 0 || pwrite(fd, burn, 512, 0x10000) < 0) continue;
		void *at = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0x10000);
		if (at != MAP_FAILED) code[n++] = at;
	}
	for (;;) for (int i = 0; i < n; i++) code[i]();
}

__attribute__((constructor)) static void begin(void) {
	pthread_t t;
	pthread_create(&t, 0, run, getenv("SLOW_FILES"));
}
`

// slowFile writes an ELF file with more than a million functions. It takes a second to read.
func slowFile(t *testing.T, path string) {
	t.Helper()
	const functions, code, symbols = 1_500_000, 1 << 16, 1 << 20
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Chmod(0o666))
	write := func(at int64, values ...any) {
		var b bytes.Buffer
		for _, v := range values {
			require.NoError(t, encoding.Write(&b, encoding.NativeEndian, v))
		}
		_, err := f.WriteAt(b.Bytes(), at)
		require.NoError(t, err)
	}
	ours, err := elf.Open("/proc/self/exe")
	require.NoError(t, err)
	defer ours.Close()
	table := make([]elf.Sym64, functions)
	for i := range table { // each function is in the middle of the one before it, from the last to the first
		table[i] = elf.Sym64{Name: 1, Info: byte(elf.STT_FUNC), Shndx: 1, Value: uint64(code + functions - i), Size: 2}
	}
	size := uint64(functions * elf.Sym64Size)
	write(0, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(ours.Data), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(ours.Machine), Version: uint32(elf.EV_CURRENT), Ehsize: 64,
		Phoff: 64, Phentsize: 56, Phnum: 1, Shoff: 120, Shentsize: 64, Shnum: 4,
	}, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: code, Vaddr: code, Filesz: code,
		Memsz: code},
		elf.Section64{}, elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_EXECINSTR), Addr: code,
			Size: 2 * functions},
		elf.Section64{Type: uint32(elf.SHT_SYMTAB), Off: symbols, Size: size, Link: 3},
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: symbols + size, Size: 16})
	write(symbols, table, []byte("\x00function\x00\x00\x00\x00\x00\x00\x00"))
}

// TestSlowFiles checks that files that are slow to read neither delay gasm's end after a signal nor use up the
// machine's memory.
func TestSlowFiles(t *testing.T) {
	needNative(t)
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs gcc")
	}
	dir := t.TempDir()
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	source, library, files := filepath.Join(dir, "slow.c"), filepath.Join(dir, "slow.so"), filepath.Join(dir, "files")
	require.NoError(t, os.WriteFile(source, []byte(slowLibrary), 0o644))
	out, err := exec.Command(gcc, "-shared", "-fPIC", "-O1", "-pthread", "-o", library, source).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.Mkdir(files, 0o755))
	slowFile(t, filepath.Join(files, "0"))
	for i := range 60 {
		require.NoError(t, os.Link(filepath.Join(files, "0"), filepath.Join(files, strconv.Itoa(i+1))))
	}

	require.NoError(t, os.Setenv("LD_PRELOAD", library))
	require.NoError(t, os.Setenv("SLOW_FILES", files))
	v := startJVM(t, someJDKs(t)[0])
	os.Unsetenv("LD_PRELOAD")
	os.Unsetenv("SLOW_FILES")

	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*hangTime)
		defer cancel()
		cmd := gasmCommand(ctx, "attach", "--skip-asm", "--stacks", "--events", "default", v.pid())
		s := start(t, cmd)
		s.sayUntil(t, "sampling pid")
		time.Sleep(3 * time.Second)
		limit := endsWithin(t)
		sent := time.Now()
		require.NoError(t, cmd.Process.Signal(sig))
		r := finish(t, cmd, s)
		took, memory := time.Since(sent), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		t.Logf("ended after %.1f s, %d MB", took.Seconds(), memory>>10)
		most := limit()
		assert.Less(t, took, most, "%v", sig)
		if busy := most-endTime > endWork/2; busy && r.code != 0 {
			// gasm ends in time even if other processes use the CPUs. Then it leaves to the next gasm what it had no
			// time for, and says so.
			assert.Regexp(t, "JVM "+v.pid()+".*(gasm was stopped|has not answered)", r.stderr)
			for range 10 { // until the JVM answers in time
				assert.Zero(t, runGasm(t, "attach", "--length", "100ms", "--skip-asm", v.pid()).code)
				if len(v.left(t)) == 0 {
					break
				}
			}
			assert.Empty(t, v.left(t), "another gasm told the JVM to stop logging")
			continue
		}
		assert.Zero(t, r.code)
		assert.Contains(t, r.stdout+r.stderr, "was not read (gasm was stopped): its functions have no names")
		assert.Less(t, memory, int64(1<<21), "in kB")
		assert.NotContains(t, r.stderr, "USDT")
		assert.Empty(t, v.left(t), "the JVM was told to stop logging")
	}
}
