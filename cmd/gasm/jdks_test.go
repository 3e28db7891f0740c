package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/report/schema"
)

// A startWay is a way in which a command starts a JVM.
type startWay struct {
	name      string
	otherUser bool     // the JVM runs as the user nobody, and gasm as root
	words     []string // the words before java and its arguments
}

var startWays = []startWay{
	{name: "java"},
	{name: "script", words: []string{"sh", "-c", `"$@"; exit $?`, "sh"}},
	{name: "setpriv", otherUser: true, words: []string{"setpriv", "--reuid=" + strconv.Itoa(gasmtest.Nobody),
		"--clear-groups"}},
	{name: "su", otherUser: true, words: []string{"su", "-s", "/bin/sh", "-c", `"$0" "$@"`, "--", "nobody"}},
	{name: "sudo", otherUser: true, words: []string{"sudo", "-E", "-u", "nobody"}},
}

// TestEveryJDK profiles a program on each JDK, in each way in which gasm gets its code. Stdin, stdout and the exit
// code must be the same as without gasm, and the hottest method must have its name. The default JDK is started in all
// ways. The other JDKs are started only directly and by sudo, which removes variables from the environment, unless
// -long is set.
func TestEveryJDK(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	classPath := filepath.Join(filepath.Dir(binary), "classes8") // here other users can read it
	gasmtest.CompileJava(t, classPath, 8, gasmtest.Testdata("programs", "Exit.java"))
	for _, j := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		for _, way := range startWays {
			if !gasmtest.Whole() && !j.IsDefault() && way.name != "java" && way.name != "sudo" {
				continue
			}
			for _, code := range []string{"auto", "print"} {
				t.Run(j.Name()+"/"+way.name+"/"+code, func(t *testing.T) {
					t.Parallel() // nothing is measured
					way.need(t, j)
					profileExit(t, j, way, code, classPath)
				})
			}
		}
	}
}

// need skips a test that can't be run on this machine.
func (w startWay) need(t *testing.T, j gasmtest.JDK) {
	t.Helper()
	if !w.otherUser {
		return
	}
	gasmtest.NeedRoot(t)
	gasmtest.NeedTool(t, w.words[0], "scripts/setup.sh test installs it")
	command := slices.Concat(w.words, []string{j.Java(), "-version"})
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("the user nobody can't run %s: %v: %s", j.Java(), err, out)
	}
}

// profileExit profiles the program Exit, which prints its arguments and its stdin, and ends with exit code 7.
func profileExit(t *testing.T, j gasmtest.JDK, way startWay, code, classPath string) {
	file := filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, slices.Concat([]string{"profile", "--code", code, "--frequency", "1001", "--fixed-frequency",
		"--format", "json", "--report", file, "--"}, way.words,
		[]string{j.Java(), "-Drounds=80000", "-cp", classPath, "Exit", "7", "echo", "a b"}), withStdin("line 1\nline 2\n"))
	assert.Equal(t, 7, r.code, r.stderr)
	assert.Equal(t, "arg 7\narg echo\narg a b\nline 1\nline 2\n", r.stdout)
	if code == "print" && j.Feature < printassembly.OldestKnown && way.name == "sudo" {
		// sudo removes JAVA_TOOL_OPTIONS, and JDK 8 reads none of the variables that sudo keeps.
		assert.Contains(t, r.said(), "sudo ended with exit code 7 before a JVM had printed any code")
		assert.NoFileExists(t, file)
		return
	}
	assert.Empty(t, r.said())
	rep := readReport(t, readFile(t, file))
	require.Len(t, rep.Profiles, 1)
	p := &rep.Profiles[0]
	assert.Len(t, p.PIDs, 1)
	require.NotEmpty(t, p.Methods)
	assert.Equal(t, "Exit::spin", p.Methods[0].Name)
	checkResolved(t, j, p)
}

// checkResolved checks the share of addresses without a name.
func checkResolved(t *testing.T, j gasmtest.JDK, p *schema.Profile) {
	t.Helper()
	limit := 0.005
	if j.Feature < printassembly.OldestWithBytes {
		limit = 0.01 // without hsdis, these JDKs report hardly any stubs: up to 2 of 300 samples were in one
	}
	unresolvedAtMost(t, p, limit)
}

// TestJMHOnEveryJDK profiles JMH on each JDK. JMH starts another JVM for the benchmark.
func TestJMHOnEveryJDK(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	gasmtest.NeedBenchmarks(t)
	for _, j := range gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true }) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "report.json")
			r := runGasm(t, append([]string{"profile", "--frequency", "1001", "--fixed-frequency", "--format", "json",
				"--report", file, "--"},
				jmhCommand(t, j.Java(), "-f", "1", "-wi", "1", "-w", "1", "-i", "2", "-r", "1", "VectorSum")...))
			require.Equal(t, 0, r.code, r.stderr)
			assert.Empty(t, r.said())
			assert.Regexp(t, `(?m)^VectorSum\.sum +4096 +avgt `, r.stdout)
			assert.NotContains(t, r.stdout, "hotspot_log")
			rep := readReport(t, readFile(t, file))
			require.Len(t, rep.Profiles, 1)
			p := &rep.Profiles[0]
			assert.Equal(t, "org.gasm.bench.VectorSum.sum (size=4096)", p.Trial)
			assert.Len(t, p.PIDs, 1, "the fork")
			require.NotEmpty(t, p.Methods)
			assert.True(t, strings.Contains(p.Methods[0].Name, "VectorSum"), p.Methods[0].Name)
			checkResolved(t, j, p)
		})
	}
}
