package printassembly

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var patterns = map[string]string{ // by pattern, a part of the error; "" for a good pattern
	"java.util.HashMap::getNode": "", "java.util.HashMap::*": "", "*::getNode": "", "*::*": "", "Shares::heavy": "",
	"Outer$Inner::a_b": "",
	"*HashMap::get*":   "", "*Map*::*et*": "", "java.util.HashMap::<init>": "", "Shares::heavy(I)I": "",
	"java.util.HashMap::get(Ljava/lang/Object;)Ljava/lang/Object;": "", "A::main([Ljava/lang/String;[[J)V": "",
	"": "name a class", "heavy": "name a class", "::get": "name a class", "java.util.HashMap::": "name a class",
	"java.util.HashMap.getNode": "name a class", "java/util/HashMap.get": "name a class",
	"java/util/HashMap::get": "not a pattern",
	"a.B::c d":               "not a pattern", "a.B::c,d.E::f": "not a pattern", "!Shares::*": "not a pattern",
	`a\b::c`:              "not a pattern",
	"java.*.HashMap::get": "first or the last letter", "a.B::g*t": "first or the last letter",
	"**::x":              "first or the last letter",
	"Shares::heavy(int)": "a signature", "Shares::heavy(I": "a signature", "Shares::heavy()": "a signature",
	"Shares::heavy(V)V":     "a signature",
	"Shares::heavy(La.B;)V": "a signature", "Shares::heavy(L;)V": "a signature", "Shares::heavy()II": "a signature",
}

func TestCheckPattern(t *testing.T) {
	for pattern, want := range patterns {
		if err := CheckPattern(pattern); want == "" {
			assert.NoError(t, err, pattern)
		} else {
			assert.ErrorContains(t, err, want, pattern)
		}
	}
}

// HotSpot accepts the patterns that CheckPattern accepts, and reports each. For a bad pattern it reports an error.
func TestPatternsOfHotSpot(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		var good []string
		for pattern, bad := range patterns {
			switch {
			case bad == "":
				good = append(good, "-XX:CompileCommand=print,"+pattern)
			case strings.Contains(bad, "first or the last"):
				out, _ := exec.Command(jdk.Java(), "-XX:CompileCommand=print,"+pattern, "-version").CombinedOutput()
				assert.Contains(t, string(out), "rror", "%s: %s", jdk.Name(), pattern)
			}
		}
		out, err := exec.Command(jdk.Java(), append(good, "-version")...).CombinedOutput()
		assert.NoError(t, err, "%s: %s", jdk.Name(), out)
		assert.Equal(t, len(good), strings.Count(strings.ToLower(string(out)), "compilecommand: print "), "%s: %s",
			jdk.Name(), out)
	}
}

// HotSpot prints the code of selected methods only. All other methods have a name in the log.
func TestSelection(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 17, gasmtest.Testdata("captures", "Workload.java"))
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		for _, sel := range []Selection{{Methods: []string{"Workload::dot", "java.util.HashMap::*"}}, {SkipC1: true},
			{SkipC1: true, Methods: []string{"*Workload::*"}},
			{Methods: []string{"Workload::dot", "java.util.HashMap::*"}, DirectivesFile: "none"}} {
			dir := t.TempDir()
			if sel.DirectivesFile == "" {
				sel.DirectivesFile = filepath.Join(dir, "directives.json")
				require.NoError(t, os.WriteFile(sel.DirectivesFile, sel.Directives(), 0o600))
			} else {
				sel.DirectivesFile = "" // then the selection uses CompileCommand
			}
			args := append(CaptureFlags(filepath.Join(dir, "asm.log"), sel), "-Dsec=1", "-cp", classes, "Workload")
			cmd := exec.Command(jdk.Java(), args...)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.NotContains(t, string(out), "CompileCommand", "on %s", jdk.Name())
			l, err := Open(filepath.Join(dir, "asm.log"))
			require.NoError(t, err)
			defer l.Close()
			checkIndex(t, l.Index)
			named, printed := 0, 0
			for i := range l.Blobs {
				b := &l.Blobs[i]
				if b.Kind != NMethod {
					continue
				}
				selected := (len(sel.Methods) == 0 || strings.HasPrefix(b.Name, "Workload::") &&
					(sel.SkipC1 || b.Name == "Workload::dot") ||
					!sel.SkipC1 && strings.HasPrefix(b.Name, "java.util.HashMap::")) &&
					(b.Compiler == "c2" || !sel.SkipC1)
				assert.Equal(t, selected, b.HasCode, "%s %+v: %s, %s", jdk.Name(), sel, b.Source(), b.Name)
				if b.HasCode {
					printed++
				} else {
					named++
				}
			}
			assert.Greater(t, named, 20)
			assert.Greater(t, printed, 0)
		}
	}
}
