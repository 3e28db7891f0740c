package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/record"
)

// The log has the code of both compilers, whoever wrote it, and debug info with it. The
// program runs for 5 s of CPU time, its compilers' included, so that as much is compiled
// on a busy machine.
func TestCode(t *testing.T) {
	gasmtest.NeedNative(t)
	javas, classPath := map[string]string{}, t.TempDir()
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return nmethod.Known(j.Feature) }) {
		javas[j.Name()] = j.Java()
	}
	gasmtest.CompileJava(t, classPath, 11, gasmtest.Testdata("programs", "Library.java"))
	for name, java := range javas {
		for _, how := range []record.CodeSource{record.CodeAuto, record.CodePrint, record.CodeCopy} {
			if name == "jdk11" && how == record.CodePrint {
				continue // it prints no code
			}
			t.Run(name+"/"+string(how), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "capture")
				r := runGasm(t, []string{"profile", "--code", string(how), "-o", dir, "--", java, "-Dsec=0", "-Dcpu=5", "-cp", classPath, "Library"})
				require.Equal(t, 0, r.code, r.stderr)
				assert.NotContains(t, r.stdout, "could not be copied")
				files, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Len(t, files, 4, "%v", files)
				logs, err := filepath.Glob(filepath.Join(dir, "asm-*.log"))
				require.NoError(t, err)
				require.Len(t, logs, 1)
				copied := copiedMethods(t, logs[0])
				for compiler, want := range map[string]bool{"c1": how != record.CodePrint, "c2": how == record.CodeCopy || name == "jdk11"} {
					assert.Equal(t, want, copied[compiler] > 50, "%s: %d", compiler, copied[compiler])
				}
				checkCompiled(t, logs[0])
				if name == "jdk11" {
					return // without hsdis, stubs have no address in some releases of it
				}
				assert.NotContains(t, r.stdout, "of code could not be read")
			})
		}
	}
}

// copiedMethods counts the methods by compiler that gasm wrote into a log.
func copiedMethods(t *testing.T, log string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	_, copied, _ := strings.Cut(string(text), "<writer thread='gasm'/>")
	n := map[string]int{}
	for _, compiler := range []string{"c1", "c2"} {
		n[compiler] = strings.Count(copied, "\nCompiled method ("+compiler+")")
	}
	return n
}

// checkCompiled finds code and frames in each compiled method of a log, in the order
// in which they were installed.
func checkCompiled(t *testing.T, path string) {
	t.Helper()
	log, err := printassembly.Open(path)
	require.NoError(t, err)
	defer log.Close()
	compiled, bare, last := map[string]int{}, 0, int64(0)
	for i := range log.Blobs {
		b := &log.Blobs[i]
		if b.Kind != printassembly.NMethod {
			continue
		}
		assert.GreaterOrEqual(t, b.UptimeMillis, last-50, b.Name)
		last = max(last, b.UptimeMillis)
		compiled[b.Compiler]++
		insts, err := log.Code(b, disasm.ATT)
		require.NoError(t, err)
		frames := false
		for _, in := range insts {
			frames = frames || in.OwnFrames && in.Frames[len(in.Frames)-1].Method == b.Name
		}
		if !frames {
			t.Logf("no frames: %s, %s, %d instructions", b.Source(), b.Name, len(insts))
			bare++
		}
	}
	assert.Greater(t, compiled["c1"], 200)
	assert.Greater(t, compiled["c2"], 50)
	assert.LessOrEqual(t, bare, 5, "of %v", compiled) // some were compiled as the JVM ended
}

// A command whose code can't be copied has it printed, unless it was asked for.
func TestNotCopyable(t *testing.T) {
	for name, java := range jdks(t) {
		for option, want := range map[string]string{
			"-XX:-LogCompilation": "has -XX:-LogCompilation, which is what tells where code is",
			"-XX:+UnlockDiagnosticVMOptions -XX:CompilerDirectivesFile=none": "it needs compiler directives of its own",
		} {
			command := append(append([]string{"--", java}, strings.Fields(option)...), "-version")
			r := runGasm(t, append([]string{"profile", "--code", "copy"}, command...))
			assert.Equal(t, 2, r.code, name)
			assert.Contains(t, strings.Join(strings.Fields(r.stderr), " "), want)
		}
	}
}
