package native

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/nativecode"
)

// inlining is C source: functions from two files that are inlined into one another, and one from which gcc splits off a
// part.
const (
	inlining = `#include "mix.h"
#include <stdlib.h>
static inline __attribute__((always_inline)) int twice(int x) {
	int y = mix(x);
	return mix(y) + 1;
}
__attribute__((noinline, noclone)) int work(const int *a, int n) {
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum += twice(a[i]);
		if (__builtin_expect(sum == 77, 0)) {
			abort();
		}
	}
	return sum;
}
__attribute__((noinline)) int other(int x) {
	return mix(x) * 3;
}
`
	mixing = `static inline __attribute__((always_inline)) int mix(int x) {
	x ^= x >> 7;
	x *= 0x9e3779b1;
	return x ^ x >> 11;
}
`
)

// self is the process in which the tests map libraries. It is a running process, so its user and its root folder are
// known.
var self = os.Getpid()

func openBounds(f *elf.File) (Bounds, error) { return cfi.Open(f) }

// compileInlining builds a library from the source text inlining.
func compileInlining(t testing.TB, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	source := write(t, filepath.Join(dir, "work.c"), []byte(inlining))
	write(t, filepath.Join(dir, "mix.h"), []byte(mixing))
	out := filepath.Join(dir, "libwork.so")
	run(t, "gcc", append([]string{"-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id", "-o", out, source}, flags...)...)
	return out
}

// sampledCode adds samples to the functions of a library that have the given names, and returns the code of these
// functions.
func sampledCode(t testing.TB, r *Resolver, full, lib string, names ...string) *nativecode.Table {
	t.Helper()
	mapLibrary(t, r, lib, self, base)
	for _, s := range nm(t, full) {
		for _, name := range names {
			if s.name == name {
				for range leastSamples {
					_, ok := r.Sampled(self, base+s.lo+s.size/2, "")
					require.True(t, ok)
				}
			}
		}
	}
	return r.Code(openBounds)
}

// checkAddr2line compares the rows of a function with what addr2line prints for each of its instructions.
func checkAddr2line(t testing.TB, debug string, f *nativecode.Function) {
	t.Helper()
	insts, err := disasm.Decode(f.Arch, disasm.ATT, f.Code, f.Lo)
	require.NoError(t, err)
	var addresses bytes.Buffer
	for _, in := range insts {
		fmt.Fprintf(&addresses, "%#x\n", in.Addr)
	}
	cmd := exec.Command(tool(t, "addr2line"), "-a", "-i", "-f", "-e", debug)
	cmd.Stdin = &addresses
	out, err := cmd.Output()
	require.NoError(t, err)
	var want []string // an address and its frames
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "0x") {
			want = append(want, "")
		} else {
			place, _, _ := strings.Cut(line, " (discriminator")
			place = strings.ReplaceAll(place, "/./", "/") // as gasm cleans paths
			want[len(want)-1] += Demangle(strings.TrimSuffix(place, ":?")) + "\n"
		}
	}
	require.Len(t, want, len(insts))
	symbol := Demangle(f.Symbol) + "\n"
	for i, in := range insts {
		got := ""
		if row := f.Row(in.Addr); row != nil {
			for _, frame := range row.Frames {
				line := ":" + strconv.Itoa(frame.Line)
				if frame.Line == 0 {
					line = ""
				}
				got += frame.Function + "\n" + frame.File + line + "\n"
			}
		}
		if row := f.Row(in.Addr); row != nil && len(row.Frames) > 1 && strings.HasPrefix(want[i], symbol) {
			// addr2line has the symbol at the address in place of the name of an inlined function of C, which has no
			// mangled name.
			_, rest, _ := strings.Cut(want[i], "\n")
			want[i] = row.Frames[0].Function + "\n" + rest
		}
		require.Equal(t, want[i], got, "%#x %s", in.Addr, in.Text)
	}
}

// checkBytes compares the code of a function with objdump's bytes.
func checkBytes(t testing.TB, lib string, f *nativecode.Function) {
	t.Helper()
	out := run(t, "objdump", "-d", "-w", "--no-addresses", "--start-address", fmt.Sprint(f.Lo), "--stop-address",
		fmt.Sprint(f.Hi()), lib)
	var want bytes.Buffer
	for line := range strings.Lines(string(out)) {
		if fields := strings.Split(line, "\t"); len(fields) == 3 {
			want.WriteString(strings.ReplaceAll(fields[1], " ", ""))
		}
	}
	assert.Equal(t, want.String(), fmt.Sprintf("%x", f.Code))
}

func TestCode(t *testing.T) {
	for _, flags := range [][]string{{}, {"-gdwarf-4"}, {"-gz"}, {"-ffunction-sections", "-gdwarf-5"}} {
		lib := compileInlining(t, flags...)
		table := sampledCode(t, NewResolver(), lib, lib, "work", "other")
		require.Len(t, table.Functions, 2)
		inlined := 0
		for i := range table.Functions {
			f := &table.Functions[i]
			s := symbolOf(t, lib, f.Symbol)
			assert.Equal(t, []uint64{s.lo, s.lo + s.size}, []uint64{f.Lo, f.Hi()})
			assert.Equal(t, []nativecode.Place{{PID: self, Lo: base + s.lo}}, f.Places)
			checkBytes(t, lib, f)
			checkAddr2line(t, lib, f)
			for _, row := range f.Rows {
				inlined = max(inlined, len(row.Frames))
			}
		}
		assert.Equal(t, 3, inlined, "mix in twice in work")
		n, addr, ok := table.Find(self, base+symbolOf(t, lib, "other").lo+1)
		assert.True(t, ok)
		assert.Equal(t, "other", table.Functions[n].Symbol)
		assert.Equal(t, symbolOf(t, lib, "other").lo+1, addr)
	}
}

// TestStubs: the stubs of imported functions have the names that objdump makes up for them.
func TestStubs(t *testing.T) {
	for _, flags := range [][]string{{}, {"-Wl,-z,now"}, {"-Wl,-z,lazy", "-fcf-protection"}, {"-fno-plt"}} {
		lib := compileInlining(t, flags...)
		table := sampledCode(t, NewResolver(), lib, lib, "work", "work.cold")
		require.Len(t, table.Functions, 2)
		if table.Functions[0].Arch != disasm.AMD64 {
			t.Skip("stubs are known on x86-64 only")
		}
		want := map[uint64]string{}
		for line := range strings.Lines(string(run(t, "objdump", "-d", lib))) {
			head, ok := strings.CutSuffix(strings.TrimSpace(line), "@plt>:")
			if addr, name, found := strings.Cut(head, " <"); ok && found {
				at, err := strconv.ParseUint(addr, 16, 64)
				require.NoError(t, err)
				want[at] = name + "@plt"
			}
		}
		o := openObject(t, lib)
		got := o.stubs()
		for at, name := range want {
			assert.Equal(t, name, got[at], "%v: %#x", flags, at)
		}
		targets := map[string]bool{}
		for i := range table.Functions {
			for _, name := range table.Functions[i].Targets {
				targets[name] = true
			}
		}
		assert.Contains(t, targets, "work.cold")
		if !slices.Contains(flags, "-fno-plt") {
			assert.Contains(t, slices.Collect(maps.Values(want)), "abort@plt")
			assert.Contains(t, targets, "abort@plt")
		}
	}
}

// TestCodeOfFewSamples: a function with a single sample is left out, and so is a function whose name was looked up
// without a sample.
func TestCodeOfFewSamples(t *testing.T) {
	lib := compileInlining(t)
	r := NewResolver()
	mapLibrary(t, r, lib, self, base)
	r.Sampled(self, base+symbolOf(t, lib, "work").lo, "")
	for range 10 {
		r.Resolve(self, base+symbolOf(t, lib, "other").lo, "")
	}
	assert.Empty(t, r.Code(openBounds).Functions)
}

// TestCodeOfEnded: the samples of a process that has ended, or in a mapping that it has replaced since, still count.
func TestCodeOfEnded(t *testing.T) {
	lib := compileInlining(t)
	r := NewResolver()
	work := symbolOf(t, lib, "work").lo
	for pid, end := range map[int]func(){
		1: func() { r.Forget(1) },
		2: func() { r.Add(Mapping{PID: 2, Lo: base, Hi: base + 1<<20}) },
		3: func() { r.Exec(3); mapLibrary(t, r, lib, 3, base); r.Sampled(3, base+work, "") },
	} {
		mapLibrary(t, r, lib, pid, base)
		r.Sampled(pid, base+work, "")
		end()
	}
	table := r.Code(openBounds)
	require.Len(t, table.Functions, 1)
	assert.Len(t, table.Functions[0].Places, 3)
}

// TestCodeWithoutSymbols: if no symbol covers the code, the function's range comes from .eh_frame, and it has no name.
func TestCodeWithoutSymbols(t *testing.T) {
	lib := compile(t, shared...)
	stripped := lib + ".stripped"
	run(t, "strip", "-s", "-o", stripped, lib)
	table := sampledCode(t, NewResolver(), lib, stripped, "hidden_c", "static_e", "exported_d")
	require.Len(t, table.Functions, 3)
	names := map[string]string{"hidden_c": "", "static_e": "", "exported_d": "exported_d"}
	for name, want := range names {
		s := symbolOf(t, lib, name)
		n, _, ok := table.Find(self, base+s.lo)
		if assert.True(t, ok, name) {
			f := &table.Functions[n]
			assert.Equal(t, want, f.Symbol)
			assert.Equal(t, []uint64{s.lo, s.lo + s.size}, []uint64{f.Lo, f.Hi()})
			assert.Nil(t, f.Rows)
			checkBytes(t, lib, f)
		}
	}
}

// TestDebugFileLines: lines are also read from a debug file, but only if it is of the same build.
func TestDebugFileLines(t *testing.T) {
	lib := compileInlining(t)
	stripped := filepath.Join(t.TempDir(), "libwork.so")
	debug := filepath.Join(filepath.Dir(stripped), "libwork.debug")
	run(t, "objcopy", "--only-keep-debug", lib, debug)
	run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+debug, lib, stripped)
	code := func() (*nativecode.Table, []string) {
		r := NewResolver()
		r.folder = t.TempDir()
		return sampledCode(t, r, lib, stripped, "work"), r.Notes()
	}
	table, notes := code()
	require.Len(t, table.Functions, 1)
	assert.Empty(t, notes)
	checkAddr2line(t, lib, &table.Functions[0])

	other := compileInlining(t, "-O1")
	run(t, "objcopy", "--only-keep-debug", other, debug)
	table, notes = code()
	require.Len(t, table.Functions, 1)
	assert.Equal(t, "work", table.Functions[0].Symbol)
	assert.Nil(t, table.Functions[0].Rows)
	checkBytes(t, lib, &table.Functions[0])
	assert.Contains(t, strings.Join(notes, "\n"),
		"the lines of source of libwork.so could not be read ("+debug+" is of another build)")
}

// TestDebugFileByBuildID: a debug file with the right name may still be of another build.
func TestDebugFileByBuildID(t *testing.T) {
	lib := compileInlining(t)
	stripped := filepath.Join(t.TempDir(), "libwork.so")
	run(t, "strip", "-s", "-o", stripped, lib)
	id := strings.TrimSpace(string(run(t, "readelf", "-n", lib)))
	_, id, _ = strings.Cut(id, "Build ID: ")
	id, _, _ = strings.Cut(id, "\n")
	folder := t.TempDir()
	path := filepath.Join(folder, ".build-id", id[:2], id[2:]+".debug")
	for _, c := range []struct {
		debug string
		note  string
	}{{lib, ""}, {compileInlining(t, "-O1"), "it is of another build"}} {
		data, err := os.ReadFile(c.debug)
		require.NoError(t, err)
		write(t, path, data)
		r := NewResolver()
		r.folder = folder
		table := sampledCode(t, r, lib, stripped, "work")
		require.Len(t, table.Functions, 1)
		if c.note == "" {
			checkAddr2line(t, lib, &table.Functions[0])
			assert.Empty(t, r.Notes())
		} else {
			assert.Nil(t, table.Functions[0].Rows)
			assert.Contains(t, strings.Join(r.Notes(), "\n"), c.note)
		}
	}
}

// TestCodeOfReplaced: a library that was replaced, or written to, has other code now.
func TestCodeOfReplaced(t *testing.T) {
	check := func(want string, change func(lib string)) {
		t.Helper()
		lib := compileInlining(t)
		full := filepath.Join(t.TempDir(), "full.so")
		data, err := os.ReadFile(lib)
		require.NoError(t, err)
		write(t, full, data)
		r := NewResolver()
		noteOurs(t, r, self)
		m, size := mappingOfFile(t, lib), uint64(len(data))
		m.PID, m.Lo, m.Hi = self, base, base+size
		r.Add(m)
		for range leastSamples {
			r.Sampled(self, base+symbolOf(t, full, "work").lo, "")
		}
		change(lib)
		assert.Empty(t, r.Code(openBounds).Functions)
		assert.Contains(t, strings.Join(r.Notes(), "\n"), want)
	}
	other, err := os.ReadFile(compileInlining(t, "-O1"))
	require.NoError(t, err)
	check("the code of functions in libwork.so is not shown: another file is at this path now", func(lib string) {
		write(t, lib+".new", other)
		require.NoError(t, os.Rename(lib+".new", lib))
	})
	check("the code of functions in libwork.so is not shown: the file was changed while the command ran",
		func(lib string) {
			require.NoError(t, os.WriteFile(lib, other, 0o755))
			require.NoError(t, os.Chtimes(lib, time.Time{}, time.Now().Add(time.Hour))) // its clock may be too coarse
		})
	check("the code of functions in libwork.so is not shown", func(lib string) { require.NoError(t, os.Remove(lib)) })
}

// mappingOfFile returns a mapping with the numbers of a file's device and inode.
func mappingOfFile(t testing.TB, path string) Mapping {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	m, err := mappedAs(f)
	require.NoError(t, err)
	return Mapping{Path: path, DevMajor: m.DevMajor, DevMinor: m.DevMinor, Inode: m.Inode}
}

// BenchmarkCode reads the code of 500 functions of libjvm.so, after its symbols were read.
func BenchmarkCode(b *testing.B) {
	j := jdks(b)[0]
	symbols := nm(b, j.LibJVM())
	for b.Loop() {
		b.StopTimer()
		r := NewResolver()
		mapLibrary(b, r, j.LibJVM(), self, base)
		img := load(b, j.LibJVM())
		n := 0
		for i := 0; i < len(symbols) && n < 500; i += 7 {
			offset, ok := img.segments.offset(symbols[i].lo)
			if !ok || !symbols[i].function() || symbols[i].size < 64 {
				continue
			}
			for range leastSamples {
				r.Sampled(self, base+offset, "")
			}
			n++
		}
		b.StartTimer()
		if table := r.Code(openBounds); len(table.Functions) < 400 {
			b.Fatal(len(table.Functions), r.Notes())
		}
	}
}

// libjvmFunctions are functions of libjvm.so that are hot when a JVM starts and compiles, or collects garbage.
var libjvmFunctions = []string{"_ZN12PhaseChaitin5SplitEjP12ResourceArea", "_ZN12PhaseIterGVN8optimizeEv",
	"_ZN14PhaseIdealLoop16build_loop_earlyER9VectorSetR9Node_ListR10Node_Stack",
	"_ZN16IndexSetIterator16advance_and_nextEv", "_ZN20G1ParScanThreadState23trim_queue_to_thresholdEj",
	"_ZN11SymbolTable10new_symbolEPKci",
	"_ZN15ClassFileParser12parse_streamEPK15ClassFileStreamP10JavaThread"}

// TestLibjvmLines compares the lines and inlined functions of libjvm.so with those that addr2line finds. It needs a JDK
// whose debug file is installed (on Debian: openjdk-17-dbg, 240 MB).
func TestLibjvmLines(t *testing.T) {
	found := 0
	for _, pattern := range []string{"/usr/lib/jvm/*/lib/server/libjvm.so",
		gasmtest.Testdata("jdks/debian-*/lib/server/libjvm.so")} {
		libs, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, lib := range libs {
			if debug := installedDebugFile(t, lib); debug != "" {
				found++
				assert.Greater(t, checkLines(t, lib, debug, libjvmFunctions), 3, "functions inlined into one another")
			}
		}
	}
	if found == 0 {
		t.Skip("no debug file of a libjvm.so is installed, as the package openjdk-17-dbg has it")
	}
}

// libcFunctions are functions of libc.so.6 in C and in assembly. They have no other names at the same address, because
// addr2line may choose another one of these than gasm.
var libcFunctions = []string{"_int_malloc", "_int_free", "sysmalloc", "msort_with_tmp.part.0", "__strlen_avx2",
	"__memchr_avx2", "_IO_file_xsputn", "do_lookup_x", "__gconv_transform_utf8_internal"}

// TestLibcLines compares the lines and inlined functions of libc.so.6 with those that addr2line finds.
func TestLibcLines(t *testing.T) {
	libs, err := filepath.Glob("/lib/*-linux-gnu/libc.so.6")
	require.NoError(t, err)
	if len(libs) == 0 || installedDebugFile(t, libs[0]) == "" {
		t.Skip("no debug file of libc.so.6 is installed, as the package libc6-dbg has it")
	}
	assert.Greater(t, checkLines(t, libs[0], installedDebugFile(t, libs[0]), libcFunctions), 1,
		"functions inlined into one another")
}

// openObject opens a library. It is closed at the end of the test.
func openObject(t *testing.T, lib string) object {
	t.Helper()
	f, err := os.Open(lib)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	require.NoError(t, err)
	o, err := newObject(&reading{ctx: t.Context(), left: 1 << 30}, f, info.Size())
	require.NoError(t, err)
	return o
}

// installedDebugFile returns the path of the debug file that the system has for a library, or "".
func installedDebugFile(t *testing.T, lib string) string {
	t.Helper()
	lib, err := filepath.EvalSymlinks(lib)
	require.NoError(t, err)
	at := debugFinder{folder: debugFolder}.buildIDPath(openObject(t, lib))
	if _, err := os.Stat(at); at == "" || err != nil {
		return ""
	}
	return at
}

// checkLines compares the lines of a library's functions with addr2line's, and their bytes with objdump's. Functions
// that the library does not have are left out. It returns how many functions are inlined into one another at most.
func checkLines(t *testing.T, lib, debug string, functions []string) (inlined int) {
	t.Helper()
	lib, err := filepath.EvalSymlinks(lib)
	require.NoError(t, err)
	r := NewResolver()
	r.limits = newLimits(maxMemory, time.Hour) // it takes 2 s of CPU time, which may be minutes on a busy machine
	r.limits.longest = time.Hour
	table := sampledCode(t, r, debug, lib, functions...)
	require.Empty(t, r.Notes())
	require.NotEmpty(t, table.Functions)
	lines := 0
	for i := range table.Functions {
		f := &table.Functions[i]
		checkBytes(t, lib, f)
		checkAddr2line(t, debug, f)
		for _, row := range f.Rows {
			lines, inlined = lines+1, max(inlined, len(row.Frames))
		}
	}
	t.Logf("%s: %d functions, %d ranges of lines, %d functions inlined into one another", lib, len(table.Functions),
		lines, inlined)
	return inlined
}
