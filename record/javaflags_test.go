package record

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/record/folder"
)

// fakeJDK makes the folder of a JDK, with a script as one of its programs. It returns the path of that program.
func fakeJDK(t *testing.T, version, program string) (path string) {
	t.Helper()
	home := t.TempDir()
	path = filepath.Join(home, "bin", program)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("\x7fELF"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, "release"), []byte("JAVA_VERSION=\""+version+"\"\n"), 0o644))
	return path
}

// TestJavaFlags checks that JAVA_TOOL_OPTIONS has no option that JDK 8 does not know, unless the command is a tool of
// a newer JDK.
func TestJavaFlags(t *testing.T) {
	java17, java8, java28 := fakeJDK(t, "17.0.15", "java"), fakeJDK(t, "1.8.0_504", "java"), fakeJDK(t, "28-ea", "java")
	for _, c := range []struct {
		name                string
		command             []string
		file, quiet, strict bool // java reads a file; the hsdis warning is off; unknown flags are refused
		quietTool           bool
	}{
		{"java 17", []string{java17}, true, true, true, false},
		{"java 8", []string{java8}, true, true, false, false},
		{"a newer java", []string{java28}, true, true, false, false},
		{"another JVM for JMH's forks", []string{java17, "-jar", "b.jar", "-jvm", "/jdk8/bin/java"}, true, false, false,
			false},
		{"a script", []string{"sh", "-c", "java X"}, false, true, false, false},
		{"javac 17", []string{fakeJDK(t, "17.0.15", "javac")}, false, false, false, true},
	} {
		r, flags := flagsFor(t, c.command...)
		tool := slices.DeleteFunc(slices.Clone(flags.tool), func(f string) bool {
			return c.quietTool &&
				f == printassembly.QuietLog
		})
		assert.Equal(t, printassembly.CaptureFlags(r.logs.Pattern(), printassembly.Selection{}), tool, c.name)
		assert.Equal(t, c.quietTool, slices.Contains(flags.tool, printassembly.QuietLog), c.name)
		launcher := strings.Join(flags.launcher, "\n")
		assert.Equal(t, c.file, launcher == "@"+r.logs.Files+folder.OptionsName, c.name)
		if c.file {
			text, err := os.ReadFile(r.options.path)
			require.NoError(t, err)
			launcher = string(text)
			info, err := os.Stat(r.options.path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o644), info.Mode(), "another user's java reads it")
		}
		assert.Equal(t, c.quiet, strings.Contains(launcher, printassembly.QuietLog), c.name)
		assert.Equal(t, c.strict, strings.Contains(launcher, printassembly.RefuseUnknownFlags), c.name)
		assert.Contains(t, launcher, "-XX:LogFile=", "sudo -E takes JAVA_TOOL_OPTIONS away")
	}
}

// TestSecretFiles checks that other users can't find out the names of the files that java reads. They could read
// these files, which contain the path of the logs.
func TestSecretFiles(t *testing.T) {
	r, _ := flagsFor(t, fakeJDK(t, "17.0.15", "java"))
	secret := regexp.MustCompile(`^[0-9a-f]{32}`)
	open := 0
	entries, err := os.ReadDir(filepath.Dir(r.logs.Files))
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			open++
			assert.Regexp(t, secret, e.Name())
		}
	}
	assert.NotZero(t, open)
}

// TestEveryJVMStarts checks that every JVM of this machine starts with the options for every kind of command, because
// it may be a child of any command.
func TestEveryJVMStarts(t *testing.T) {
	for _, j := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		for _, command := range [][]string{{fakeJDK(t, "17.0.15", "java")}, {fakeJDK(t, "28-ea", "java")}, {"sh"}} {
			_, flags := flagsFor(t, command...)
			out, _ := java(t, flags, j.Java(), "-cp", ".", "-version")
			assert.Empty(t, out, "%s below %s", j.Name(), command)
		}
	}
}

func TestLongOptions(t *testing.T) {
	t.Setenv("JAVA_TOOL_OPTIONS", "-Dx="+strings.Repeat("y", 1000))
	_, flags := flagsFor(t, "sh")
	assert.Regexp(t, `^JAVA_TOOL_OPTIONS has \d{4} bytes .* JVMs of JDK 8 ignore all of it`,
		flags.longNote([]string{"sh"}))
	assert.Empty(t, flags.longNote([]string{fakeJDK(t, "17.0.15", "java")}))
	t.Setenv("JAVA_TOOL_OPTIONS", "-Dx=y")
	assert.Empty(t, flags.longNote([]string{"sh"}))
}

// TestChooseCode checks that code is read from memory if that is possible and if no option limits what HotSpot
// prints. If it is not possible, a note must say so.
func TestChooseCode(t *testing.T) {
	gasmtest.NeedNative(t)
	java17, java8, java99 := fakeJDK(t, "17.0.15", "java"), fakeJDK(t, "1.8.0_504", "java"), fakeJDK(t, "99", "java")
	for _, c := range []struct {
		name       string
		o          Options
		kind, note string
	}{
		{"java", Options{Command: []string{java17}, Code: CodeAuto}, capture.CodeCopied, ""},
		{"a script", Options{Command: []string{"sh"}, Code: CodeAuto}, capture.CodeCopied, ""},
		{"copy", Options{Command: []string{"sh"}, Code: CodeCopy}, capture.CodeCopied, ""},
		{"print", Options{Command: []string{java17}, Code: CodePrint}, capture.CodePrinted, ""},
		{"limited", Options{Command: []string{java17}, Code: CodeAuto, SkipC1: true}, capture.CodePrinted, ""},
		{"java 8", Options{Command: []string{java8}, Code: CodeAuto}, capture.CodeCopied, ""},
		{"a newer java", Options{Command: []string{java99}, Code: CodeAuto}, capture.CodePrinted,
			"gasm does not know the memory of JDK 99"},
	} {
		r := New(c.o)
		assert.Equal(t, c.kind, r.code.kind(), c.name)
		assert.Contains(t, r.codeNote, c.note, c.name)
		if c.note == "" && folder.CompilerLogsFault() == "" {
			assert.Empty(t, r.codeNote, c.name)
		}
	}
	for _, c := range []Options{
		{Command: []string{java99}, Code: CodeCopy, Sampler: SamplerAuto},
		{Command: []string{java17}, Code: CodeCopy, Sampler: SamplerAuto, SkipC1: true},
		{Command: []string{java17}, Code: "some", Sampler: SamplerAuto},
	} {
		assert.Error(t, c.Check())
	}
}

// TestPrintAll checks that if LogCompilation must not be used, HotSpot prints all code, and a note says so.
func TestPrintAll(t *testing.T) {
	const fault = "fs.protected_symlinks is 0"
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"limited", Options{Code: CodePrint, Methods: []string{"A::b"}}, "and --method A::b did not limit it"},
		{"printed", Options{Code: CodePrint}, ""},
	} {
		assert.Empty(t, c.o.printAll(""), c.name)
		note := c.o.printAll(fault)
		assert.Contains(t, note, c.want, c.name)
		assert.Equal(t, c.want == "", note == "", c.name)
		assert.Empty(t, c.o.selectionText(), c.name)
	}
}
