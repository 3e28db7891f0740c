package printassembly

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// buildHsdis compiles testdata/tools/hsdis and returns the directory of the plug-in.
func buildHsdis(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "amd64", "arm64": "aarch64"}[runtime.GOARCH]
	if runtime.GOOS != "linux" || arch == "" {
		t.Skipf("no hsdis for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc on PATH: scripts/setup.sh installs it")
	}
	if _, err := os.Stat("/usr/include/dis-asm.h"); err != nil {
		t.Skip("no dis-asm.h: scripts/setup.sh installs binutils-dev")
	}
	dir := t.TempDir()
	build := func(flags ...string) ([]byte, error) {
		args := append(flags, "-O2", "-shared", "-fPIC", "-o", filepath.Join(dir, "hsdis-"+arch+".so"),
			gasmtest.Testdata("tools", "hsdis", "hsdis.c"), "-lopcodes", "-lbfd")
		return exec.Command(gcc, args...).CombinedOutput()
	}
	if out, err := build(); err != nil {
		if _, err := build("-DNO_STYLES"); err != nil { // binutils before 2.39
			t.Skipf("hsdis.c does not compile: %v\n%s", err, out)
		}
	}
	return dir
}

// runLogged runs Workload with gasm's flags and returns its log.
func runLogged(t *testing.T, jdk gasmtest.JDK, classes, plugin string, flags ...string) *Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "asm.log")
	// Compiled in the foreground, the same methods become the same code in more runs, however busy the machine is.
	args := slices.Concat(CaptureFlags(path, Selection{}), flags,
		[]string{"-Xbatch", "-Dsec=2", "-cp", classes, "Workload"})
	cmd := exec.Command(jdk.Java(), args...)
	cmd.Env = append(cmd.Environ(), "LD_LIBRARY_PATH="+plugin)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	l, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	checkIndex(t, l.Index)
	for i := range l.Blobs {
		b := &l.Blobs[i]
		checkCode(t, b, code(t, l, b))
		assert.True(t, b.HasCode, "%s: %s", b.Source(), b.Name)
	}
	return l
}

// TestHsdis runs a program with a disassembler plug-in and without it. gasm's decoding of all bytes that the plug-in
// was called with must equal the plug-in's text. If both runs compiled a method to the same code, comments must be on
// the same instructions, or on another instruction of the same cell.
func TestHsdis(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	plugin := buildHsdis(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 17, gasmtest.Testdata("captures", "Workload.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			lean := runLogged(t, jdk, classes, t.TempDir())
			compareLogs(t, lean, runLogged(t, jdk, classes, plugin, "-XX:PrintAssemblyOptions=gasm-code"), disasm.ATT)
			compareLogs(t, lean, runLogged(t, jdk, classes, plugin, "-XX:PrintAssemblyOptions=intel,gasm-code"),
				disasm.Intel)
		})
	}
}

// compareLogs compares the log of a run without the plug-in with the log of a run with it.
func compareLogs(t *testing.T, lean, plugged *Log, syntax disasm.Syntax) {
	t.Helper()
	want := compilations(t, plugged, syntax) // the log has text, so its syntax is the plug-in's
	all := 0
	different := map[string]int{}
	for key, insts := range want {
		for i := range insts {
			in := &insts[i]
			text, code, ok := strings.Cut(in.Text, " //")
			require.True(t, ok, "%s: the plug-in did not print the bytes of %q", key, in.Text)
			in.Text = text
			in.Kind, in.Target = flow(text)
			data, err := hex.DecodeString(code)
			require.NoError(t, err)
			decoded, err := disasm.Decode(plugged.arch, syntax, data, in.Lo)
			require.NoError(t, err)
			all++
			// Bytes that are data may not be an instruction. For an operand that does not exist hsdis prints "?". For bytes that
			// do not follow a prefix it prints "(bad)" on the line of the prefix; gasm has two lines.
			bad := slices.ContainsFunc(decoded, func(in disasm.Inst) bool { return in.Bad })
			invalid := bad && (strings.Contains(text, "?") || strings.Contains(text, "(bad)"))
			if !invalid && normal(decoded[0].Text) != normal(text) {
				different[fmt.Sprintf("%s: %s, hsdis: %s", code, decoded[0].Text, text)]++
			}
		}
	}
	assert.NotZero(t, all)
	assert.Empty(t, different)
	c := compareMethods(compilations(t, lean, syntax), want)
	t.Logf("%v: %d instructions; %d methods with the same code, %d instructions with comments: on %d it is another's of its cell, and %d are lost",
		syntax, all, c.methods, c.compared, len(c.moved), len(c.lost))
	assert.Greater(t, c.methods, 20) // of about 300: the JIT compilers decide differently in each run
	// The logs are of two runs. HotSpot may note a place in the code in one run and not in the other, even if the code is
	// the same: 1 of 6767 was seen, in one of ten comparisons.
	assert.LessOrEqual(t, len(c.wrong), c.compared/5000, "%v", c.wrong)
}
