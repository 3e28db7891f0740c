package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/report/schema"
)

// TestMCA checks that with --mca, a program says how fast each loop is. The text report, the HTML page and the JSON
// report must have its answers.
func TestMCA(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk25-lean-none")
	dir := t.TempDir()
	const script = "#!/bin/sh\ncat >\"$0.$$\"; echo \"$@\"; echo 'Total Cycles:      4200'; echo 'Block RThroughput: 7.5'; printf '\\033[31m'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "llvm-mca"), []byte(script), 0o755))
	path := withEnv("PATH=" + dir + ":" + os.Getenv("PATH"))
	const verdict = "llvm-mca -mcpu=znver3: 42 cycles a round; 7.5 by ports alone"

	text := runGasm(t, []string{"report", "--mca=llvm-mca:znver3", "--top", "5", samples, log}, path)
	require.Equal(t, 0, text.code, text.stderr)
	assert.Contains(t, text.stdout, verdict)
	sources, err := filepath.Glob(filepath.Join(dir, "llvm-mca.*"))
	require.NoError(t, err)
	assert.NotEmpty(t, sources)
	for _, file := range sources {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(source), "gasm_top:\n\t"), "%s", source)
		assert.NotRegexp(t, `\tj\w+\s+0x|\tcall`, string(source), "jumps lead to a label")
	}

	page := runGasm(t, []string{"report", "--mca=llvm-mca:znver3", "--format", "html", samples, log}, path)
	require.Equal(t, 0, page.code, page.stderr)
	assert.Contains(t, page.stdout, verdict+"</summary>")
	assert.NotContains(t, page.stdout, "\x1b")

	r := runGasm(t, []string{"report", "--mca", "--format", "json", samples, log}, path)
	require.Equal(t, 0, r.code, r.stderr)
	var report schema.Report
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &report))
	answers := 0
	for _, l := range report.Profiles[0].Loops {
		if m := l.Facts.Modelled; m != nil {
			answers++
			assert.Equal(t, "llvm-mca -mcpu=native", m.Tool)
			assert.Equal(t, "42 cycles a round; 7.5 by ports alone", m.Verdict)
			assert.Contains(t, m.Text, "-mcpu=native")
		}
	}
	assert.Positive(t, answers)
}

func TestMCARefused(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk25-lean-none")
	empty := withEnv("PATH=" + t.TempDir())
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--mca"}, "--mca: neither llvm-mca nor OSACA is installed: apt install llvm, dnf install llvm, or pip install osaca"},
		{[]string{"--mca=osaca"}, "--mca: osaca is not installed"},
		{[]string{"--mca=perf"}, `--mca: "perf" is not llvm-mca or osaca`},
		{[]string{"--mca", "--skip-asm"}, "--mca is about loops, which this report does not have"},
		{[]string{"--mca", "--format", "pprof", "--report", os.DevNull},
			"--mca is about loops, which this report does not have"},
	} {
		r := runGasm(t, append(append([]string{"report"}, c.flags...), samples, log), empty)
		assert.NotEqual(t, 0, r.code, c.flags)
		assert.Contains(t, r.stderr, c.want)
		assert.Empty(t, r.stdout)
	}
}
