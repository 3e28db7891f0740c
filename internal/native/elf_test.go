package native

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// program is C source with exported and static functions. It prints the address of one of each kind. Each function is
// in its own section, so that strip can remove single symbols. Each is aligned to 64 bytes, so that there are gaps.
const program = `
#include <stdio.h>
#include <unistd.h>
#define FN __attribute__((noinline, noclone, used, aligned(64)))
FN int exported_a(int x) { return x * 3 + 1; }
FN static int static_b(int x) { return exported_a(x) + 7; }
FN static int hidden_c(int x) { return static_b(x) ^ x; }
FN int exported_d(int x) { return hidden_c(x) - 5; }
FN static int static_e(int x) { return exported_d(x) << 1; }
FN int exported_f(int x) { return static_e(x) + 9; }
#ifdef MAIN
int main(void) {
	printf("%p %p\n", (void *)exported_a, (void *)static_e);
	fflush(stdout);
	getchar();
	return exported_f(1) == 0;
}
#endif
`

// compile builds a shared library, or with -DMAIN a program, with debug information.
func compile(t testing.TB, flags ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the compiler does not make ELF files")
	}
	dir := t.TempDir()
	source := write(t, filepath.Join(dir, "lib.c"), []byte(program))
	out := filepath.Join(dir, "lib.so")
	args := append([]string{"-O1", "-g", "-fno-inline", "-ffunction-sections", "-Wl,--build-id", "-o", out, source},
		flags...)
	run(t, "gcc", args...)
	return out
}

var shared = []string{"-shared", "-fPIC"}

// The functions in the source text program. The variable exported has the exported ones.
var (
	exported = []string{"exported_a", "exported_d", "exported_f"}
	static   = []string{"static_b", "hidden_c", "static_e"}
)

// checkFunctions looks up addresses in each function of the source text program, and addresses just outside. It
// compares the names with nm's list for the file full, which has all symbols. Functions that are not in the list named
// must have no name.
func checkFunctions(t *testing.T, full string, img *image, named ...string) {
	t.Helper()
	checked := 0
	for _, s := range nm(t, full) {
		if s.size == 0 || !strings.Contains(strings.Join(append(exported, static...), " "), s.name) {
			continue
		}
		want := ""
		for _, name := range named {
			if name == s.name {
				want = name
			}
		}
		checked++
		for _, addr := range []uint64{s.lo, s.lo + s.size/2, s.lo + s.size - 1} {
			slot, lo, hi := img.find(addr)
			assert.Equal(t, want, img.name(slot), "%s %#x", s.name, addr)
			if want != "" {
				assert.Equal(t, [2]uint64{s.lo, s.lo + s.size}, [2]uint64{lo, hi}, s.name)
			}
			assert.True(t, lo <= addr && addr < hi)
		}
		for _, addr := range []uint64{s.lo - 1, s.lo + s.size} {
			slot, _, _ := img.find(addr)
			assert.Empty(t, img.name(slot), "beside %s", s.name) // functions are aligned to 64
		}
	}
	assert.Equal(t, len(exported)+len(static), checked)
}

func TestFullSymbols(t *testing.T) {
	lib := compile(t, shared...)
	img := load(t, lib)
	assert.True(t, img.complete)
	checkFunctions(t, lib, img, append(exported, static...)...)
}

func TestOneSymbolStripped(t *testing.T) {
	lib := compile(t, shared...)
	stripped := lib + ".one"
	run(t, "strip", "-g", "--strip-symbol=hidden_c", "-o", stripped, lib)
	img := load(t, stripped)
	assert.True(t, img.complete)
	checkFunctions(t, lib, img, append(exported, "static_b", "static_e")...)
}

func TestStripped(t *testing.T) {
	lib := compile(t, shared...)
	stripped := lib + ".stripped"
	run(t, "strip", "-s", "-o", stripped, lib)
	img := load(t, stripped)
	assert.False(t, img.complete)
	checkFunctions(t, lib, img, exported...)
}

// TestMiniDebugInfo packs the functions that are not exported, as Fedora's find-debuginfo does.
func TestMiniDebugInfo(t *testing.T) {
	lib := compile(t, shared...)
	dir := filepath.Dir(lib)
	debug, keep, mini, stripped := filepath.Join(dir, "full.debug"), filepath.Join(dir, "keep"),
		filepath.Join(dir, "mini"), filepath.Join(dir, "stripped.so")
	public := map[string]bool{}
	for _, s := range nm(t, lib, "-D") {
		public[s.name] = true
	}
	var names []string
	for _, s := range nm(t, lib) {
		if s.function() && !public[s.name] {
			names = append(names, s.name)
		}
	}
	write(t, keep, []byte(strings.Join(names, "\n")+"\n"))
	run(t, "objcopy", "--only-keep-debug", lib, debug)
	run(t, "objcopy", "-S", "--remove-section", ".gdb_index", "--remove-section", ".comment", "--keep-symbols="+keep,
		debug, mini)
	run(t, "xz", mini)
	run(t, "objcopy", "-S", "--add-section", ".gnu_debugdata="+mini+".xz", lib, stripped)

	img := load(t, stripped)
	assert.True(t, img.complete)
	checkFunctions(t, lib, img, append(exported, static...)...)

	t.Run("damaged", func(t *testing.T) {
		data, err := os.ReadFile(mini + ".xz")
		require.NoError(t, err)
		damaged := filepath.Join(t.TempDir(), "damaged.so")
		run(t, "objcopy", "-S", "--add-section", ".gnu_debugdata="+write(t, mini+".cut", data[:len(data)/2]),
			lib, damaged)
		r := NewResolver()
		img, failure := r.load(&Mapping{PID: os.Getpid(), Path: damaged})
		assert.Empty(t, failure)
		assert.False(t, img.complete)
		checkFunctions(t, lib, img, exported...)
		require.Len(t, r.Notes(), 1)
		assert.Contains(t, r.Notes()[0], "the debug information of damaged.so could not be read")
	})
}

func TestDebugLink(t *testing.T) {
	lib := compile(t, shared...)
	dir := filepath.Dir(lib)
	debug := filepath.Join(dir, "lib.debug")
	stripped := filepath.Join(dir, "stripped.so")
	run(t, "objcopy", "--only-keep-debug", lib, debug)
	run(t, "objcopy", "-S", "--add-gnu-debuglink="+debug, lib, stripped)
	data, err := os.ReadFile(debug)
	require.NoError(t, err)
	require.NoError(t, os.Remove(debug))
	all := append(exported, static...)
	folder := t.TempDir()
	id := ""
	{
		f, size, err := regular.Open(lib)
		require.NoError(t, err)
		defer f.Close()
		o, err := newObject(newReading(t), f, size)
		require.NoError(t, err)
		raw := o.buildID()
		require.Len(t, raw, 20)
		id = hex.EncodeToString(raw)
	}
	assert.Contains(t, string(run(t, "readelf", "-n", lib)), id)

	cases := map[string]string{
		"beside":   filepath.Join(dir, "lib.debug"),
		".debug":   filepath.Join(dir, ".debug", "lib.debug"),
		"folder":   filepath.Join(folder, dir, "lib.debug"),
		"build-id": filepath.Join(folder, ".build-id", id[:2], id[2:]+".debug"),
	}
	require.NotEmpty(t, cases)
	for name, path := range cases {
		t.Run(name, func(t *testing.T) {
			r := NewResolver()
			r.folder = folder
			img, _ := r.load(&Mapping{PID: os.Getpid(), Path: stripped})
			assert.False(t, img.complete, "nothing is there yet")

			write(t, path, data)
			defer os.Remove(path)
			img, _ = r.load(&Mapping{PID: os.Getpid(), Path: stripped})
			assert.True(t, img.complete)
			checkFunctions(t, lib, img, all...)
			assert.Empty(t, r.Notes())

			if name != "build-id" {
				write(t, path, append(bytes.Clone(data), 0))
				img, _ = r.load(&Mapping{PID: os.Getpid(), Path: stripped})
				assert.False(t, img.complete, "the checksum is another")
				checkFunctions(t, lib, img, exported...)
				assert.Contains(t, strings.Join(r.Notes(), ""), "is of another build")
			}
		})
	}
}
