package main

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/report/schema"
)

// jniLibrary compiles the C library of Jni.java, with debug information, and returns its path.
func jniLibrary(t *testing.T) (path string) {
	t.Helper()
	gcc := gasmtest.NeedTool(t, "gcc", "scripts/setup.sh test installs it")
	dir := t.TempDir()
	path = filepath.Join(dir, "libjni.so")
	out, err := exec.Command(gcc, "-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id", "-o", path,
		gasmtest.Testdata("programs", "jni.c")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// manySamples are flags with which even functions that take only a small part of a second have samples, on a busy
// machine, too.
var manySamples = []string{"--frequency", "4001"}

// profileJNI profiles Jni.java with a library, and returns the folder of the capture. With the JVM flag -Xcomp,
// libjvm.so has many samples, too.
func profileJNI(t *testing.T, lib string, flags ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "capture")
	args := slices.Concat([]string{"profile", "-o", dir, "--skip-asm"}, manySamples, flags,
		[]string{"--", gasmtest.NeedJava(t), "-Xcomp", "-XX:TieredStopAtLevel=1", "-cp", javaPrograms(t), "Jni", lib, "1500"})
	r := runGasm(t, args)
	require.Equal(t, 0, r.code, r.stderr)
	return dir
}

// codeOf returns the native functions with code in a capture, by module.
func codeOf(t *testing.T, dir string) map[string][]nativecode.Function {
	t.Helper()
	c, err := capture.Open(dir)
	require.NoError(t, err)
	defer c.Close()
	all := map[string][]nativecode.Function{}
	if code := c.NativeCode(); code != nil {
		for _, f := range code.Functions {
			all[f.Module] = append(all[f.Module], f)
		}
	}
	return all
}

// TestNativeCode checks that the code of sampled native functions is the same as in their libraries, that it is
// decoded as objdump does, and that reports show it without reading the libraries.
func TestNativeCode(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	lib := jniLibrary(t)
	dir := profileJNI(t, lib)
	code := codeOf(t, dir)
	mapped := map[string]string{"libjni.so": lib,
		"libjvm.so": jdk.LibJVM(filepath.Dir(filepath.Dir(gasmtest.NeedJava(t)))), "libc.so.6": libc(t)}
	for module, path := range mapped {
		require.NotEmpty(t, code[module], "functions of %s", module)
		checkCode(t, path, code[module])
	}

	require.NoError(t, os.Remove(lib))
	r := runGasm(t, []string{"report", "--format", "json", dir})
	require.Equal(t, 0, r.code, r.stderr)
	p := readReport(t, []byte(r.stdout)).Profiles[0]
	i := slices.IndexFunc(p.Regions, func(r schema.Region) bool { return r.Method == "Java_Jni_work" })
	require.GreaterOrEqual(t, i, 0)
	region := &p.Regions[i]
	assert.True(t, region.Native)
	assert.Equal(t, "libjni.so", region.Source)
	lines := map[string]bool{}
	for _, l := range region.Lines {
		var chain []string
		for _, f := range l.Frames {
			chain = append(chain, f.Method)
			assert.Equal(t, "jni.c", filepath.Base(f.File))
			assert.Positive(t, f.Line)
		}
		lines[strings.Join(chain, " ")] = true
	}
	assert.Contains(t, lines, "mix Java_Jni_work")
	assert.Contains(t, lines, "Java_Jni_work")

	r = runGasm(t, []string{"report", "--source", gasmtest.Testdata("programs"), dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, regexp.MustCompile(`(?m)^libjni\.so, Java_Jni_work`), r.stdout)
	assert.Contains(t, r.stdout, "x *= 0x9e3779b1;")
	assert.Contains(t, r.stdout, "mix in Java_Jni_work")

	r = runGasm(t, []string{"report", "--skip-native-code", dir})
	require.Equal(t, 0, r.code, r.stderr)
	assert.NotContains(t, r.stdout, "mix in Java_Jni_work")
	assert.Contains(t, r.stdout, "Java_Jni_work")
}

// checkCode compares the bytes of a library's functions with the library's file, and their instructions with
// objdump's.
func checkCode(t *testing.T, path string, functions []nativecode.Function) {
	t.Helper()
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var blobs []disasmtest.Blob
	for i := range functions {
		fn := &functions[i]
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr <= fn.Lo && fn.Hi() <= p.Vaddr+p.Filesz {
				want := make([]byte, len(fn.Code))
				_, err := p.ReadAt(want, int64(fn.Lo-p.Vaddr))
				require.NoError(t, err)
				require.Equal(t, want, fn.Code, "%s %s", path, fn.Symbol)
				blobs = append(blobs, disasmtest.Blob{PC: fn.Lo, Code: fn.Code})
			}
		}
	}
	require.Len(t, blobs, len(functions))
	compared := 0
	for _, tool := range []disasmtest.Objdump{
		{Name: "objdump", Package: "binutils", Target: "elf64-x86-64", Machine: uint16(elf.EM_X86_64)},
		{Name: "objdump", Package: "binutils", Target: "elf64-littleaarch64", Machine: uint16(elf.EM_AARCH64)},
	} {
		if tool.Machine != uint16(f.Machine) {
			continue
		}
		for i, want := range tool.Disassemble(t, asm.ATT, blobs) {
			got, err := disasm.Decode(functions[i].Arch, disasm.ATT, blobs[i].Code, blobs[i].PC)
			require.NoError(t, err)
			require.Equal(t, len(want), len(got), "%s %s", path, functions[i].Symbol)
			for k := range want {
				require.Equal(t, disasmtest.SharedSpelling(want[k].Text), disasmtest.SharedSpelling(got[k].Text),
					"%s %s, %#x", path, functions[i].Symbol, got[k].Addr)
			}
			compared += len(want)
		}
	}
	t.Logf("%s: %d functions, %d instructions", filepath.Base(path), len(functions), compared)
}

// libc returns the path of the libc that this process's programs use.
func libc(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(gasmtest.NeedTool(t, "ldd", "it is part of libc"), gasmtest.NeedJava(t)).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "libc.so.6" {
			return fields[2]
		}
	}
	t.Skip("the JVM uses no libc.so.6")
	return ""
}

// TestNativeCodeReplaced replaces a library while the program runs, so that the file has different code afterwards.
// The report must say so, and must show no code of the library.
func TestNativeCodeReplaced(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	lib := jniLibrary(t)
	dir := filepath.Join(t.TempDir(), "capture")
	data, err := os.ReadFile(lib)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(lib+".new", data, 0o755))
	kept := filepath.Join(filepath.Dir(lib), "libkept.so")
	require.NoError(t, os.WriteFile(kept, data, 0o755))
	run := fmt.Sprintf("%s -cp %s Jni", gasmtest.NeedJava(t), javaPrograms(t))
	script := fmt.Sprintf("%s %s 1000 && %s %s 1000 && mv %s.new %s", run, lib, run, kept, lib, lib)
	r := runGasm(t, slices.Concat([]string{"profile", "-o", dir}, manySamples, []string{"--", "sh", "-c", script}))
	require.Equal(t, 0, r.code, r.stderr)
	code := codeOf(t, dir)
	assert.Empty(t, code["libjni.so"])
	assert.NotEmpty(t, code["libkept.so"])
	assert.Contains(t, r.stdout, "the code of functions in libjni.so is not shown: another file is at this path now")
	assert.Regexp(t, regexp.MustCompile(`(?m)^libjni\.so, Java_Jni_work.*\n\n    \(native code, which is not in HotSpot's log\)\n\.\.\.`), r.stdout)
	assert.Regexp(t, regexp.MustCompile(`(?m)^libkept\.so, Java_Jni_work.*\n\n( .*\n)*.* imul `), r.stdout)
}
