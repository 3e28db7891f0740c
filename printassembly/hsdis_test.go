package printassembly

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
)

// buildHsdis compiles testdata/tools/hsdis and gives the folder of the plug-in.
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
			"../testdata/tools/hsdis/hsdis.c", "-lopcodes", "-lbfd")
		return exec.Command(gcc, args...).CombinedOutput()
	}
	if out, err := build(); err != nil {
		if _, err := build("-DNO_STYLES"); err != nil { // binutils before 2.39
			t.Skipf("hsdis.c does not compile: %v\n%s", err, out)
		}
	}
	return dir
}

// liveJDKs gives the home of each JDK ≥ 17 on this machine, by version.
func liveJDKs(t *testing.T) map[string]string {
	t.Helper()
	homes := map[string]string{}
	release := regexp.MustCompile(`(?m)^JAVA_VERSION="(\d+)`)
	paths, err := filepath.Glob("/usr/lib/jvm/*/release")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if m := release.FindSubmatch(text); err == nil && m != nil && len(m[1]) == 2 && string(m[1]) >= "17" {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "bin", "javac")); err == nil {
				homes["jdk"+string(m[1])] = filepath.Dir(path)
			}
		}
	}
	if len(homes) == 0 {
		t.Skip("no JDK ≥ 17 in /usr/lib/jvm: scripts/setup.sh installs one")
	}
	return homes
}

// runLogged runs Workload under gasm's flags and gives its log.
func runLogged(t *testing.T, home, classes, plugin string, flags ...string) *Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "asm.log")
	args := slices.Concat(CaptureFlags(path, true, Selection{}), flags, []string{"-Dsec=2", "-cp", classes, "Workload"})
	cmd := exec.Command(filepath.Join(home, "bin/java"), args...)
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

// TestHsdis runs a program with a disassembler plug-in and without: where both
// runs compiled a method to the same code, gasm's decoding of the hex is the
// plug-in's text, and the comments stand on the same instructions.
func TestHsdis(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	plugin := buildHsdis(t)
	for name, home := range liveJDKs(t) {
		t.Run(name, func(t *testing.T) {
			classes := t.TempDir()
			out, err := exec.Command(filepath.Join(home, "bin/javac"), "-g", "-d", classes, "../testdata/captures/Workload.java").CombinedOutput()
			require.NoError(t, err, "%s", out)
			lean := runLogged(t, home, classes, t.TempDir())
			compareLogs(t, lean, runLogged(t, home, classes, plugin), disasm.ATT)
			compareLogs(t, lean, runLogged(t, home, classes, plugin, "-XX:PrintAssemblyOptions=intel"), disasm.Intel)
		})
	}
}

func compareLogs(t *testing.T, lean, plugged *Log, syntax disasm.Syntax) {
	t.Helper()
	truth := syntaxCompilations(t, plugged, disasm.ATT) // it is text: the syntax is the plug-in's
	methods, text, debug, relocs := 0, agreement{}, agreement{}, agreement{}
	differ := map[string]int{}
	for key, got := range syntaxCompilations(t, lean, syntax) {
		want := truth[key]
		if !sameMethod(got, want) || !sameInlining(got, want) {
			continue
		}
		methods++
		for i := range got {
			g, w := normal(got[i].Text), normal(want[i].Text)
			text.add(g == w)
			if g != w {
				differ[fmt.Sprintf("%s, hsdis: %s", g, w)]++
			}
			if got[i].OwnFrames {
				debug.add(want[i].OwnFrames && slices.Equal(got[i].Frames, want[i].Frames))
			}
			gc, wc := relocations(&got[i]), relocations(&want[i])
			if gc != "" || wc != "" {
				relocs.add(gc == wc)
			}
		}
	}
	t.Logf("%v: %d methods with the same code; text %v, debug info %v, relocations %v", syntax, methods, text, debug, relocs)
	for _, d := range slices.Sorted(maps.Keys(differ))[:min(len(differ), 12)] {
		t.Logf("%4d × %s", differ[d], d)
	}
	assert.Greater(t, methods, 20)
	assert.GreaterOrEqual(t, text.percent(), 99.5)
	assert.GreaterOrEqual(t, debug.percent(), 95.0)
	assert.GreaterOrEqual(t, relocs.percent(), 98.0)
}

// syntaxCompilations is compilations in a syntax.
func syntaxCompilations(t *testing.T, l *Log, syntax disasm.Syntax) map[string][]Instruction {
	t.Helper()
	found := map[string][]Instruction{}
	for i := range l.Blobs {
		b := &l.Blobs[i]
		if b.Kind != NMethod {
			continue
		}
		insts, err := l.Code(b, syntax)
		require.NoError(t, err)
		key := fmt.Sprint(b.Name, b.Source(), b.OSRBCI)
		if _, twice := found[key]; twice {
			insts = nil
		}
		found[key] = insts
	}
	return found
}

// sameInlining tells whether all frames of one listing are in the other too: two
// runs can make the same instructions of other methods.
func sameInlining(got, want []Instruction) bool {
	known := map[string]bool{}
	for i := range want {
		known[fmt.Sprint(want[i].Frames)] = true
	}
	return !slices.ContainsFunc(got, func(in Instruction) bool { return in.OwnFrames && !known[fmt.Sprint(in.Frames)] })
}

var (
	longHex = regexp.MustCompile(`(Stub::\w+(\+\d+)? ?)?0x[0-9a-f]{6,}|Stub::\w+`)
	target  = regexp.MustCompile(` *# .*$`)
)

// normal takes out of an instruction what differs from run to run: addresses,
// which are longer than offsets, and what they are called.
func normal(text string) string {
	text = target.ReplaceAllString(text, "")
	return longHex.ReplaceAllString(strings.Join(strings.Fields(text), " "), "ADDRESS")
}

// relocations gives the comments in braces, without addresses.
func relocations(in *Instruction) string {
	var found []string
	for _, c := range in.Comments {
		if strings.HasPrefix(c, "{") && !strings.HasPrefix(c, "{method}") {
			found = append(found, longHex.ReplaceAllString(c, "ADDRESS"))
		}
	}
	return strings.Join(found, " ")
}
