package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestPerfStacks reads three texts that perf script can print for a recording of `perf record -g`: with stacks,
// without stacks, and with the fields that gasm asks for. The report must have the same code in all three cases. If
// the text has stacks, the report must have them as well, and all formats must have the same totals.
func TestPerfStacks(t *testing.T) {
	t.Parallel()
	gasmtest.NeedPerf(t)
	dir := t.TempDir()
	data, log := filepath.Join(dir, "perf.data"), filepath.Join(dir, "asm.log")
	args := []string{"record", "-q", "-k", "mono", "-F", "499", "-e", "cpu-clock", "-g", "-o", data, gasmtest.NeedJava(t),
		"-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintAssembly", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput",
		"-XX:LogFile=" + log,
		// perf can't name interpreted methods, so main must be compiled soon, also on a busy machine.
		"-XX:Tier3BackEdgeThreshold=5000", "-XX:+PreserveFramePointer", "-Dsec=1", "-Dhertz=97", "-cp", javaPrograms(t), "Lockstep"}
	out, err := exec.Command("perf", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	file := filepath.Join(dir, "samples.txt")
	var texts []string
	var reports []schema.Profile
	for _, fields := range [][]string{
		{"-G"}, nil, {"-G", "--ns", "-F", "comm,pid,tid,time,event,ip,sym,dso"},
		{"--ns", "-F", "comm,pid,tid,time,event,ip,sym,dso"},
		{"--ns", "--no-inline", "-F", "comm,pid,tid,time,event,ip,sym,symoff,dso"}} {
		text, err := exec.Command("perf", append([]string{"script", "-i", data}, fields...)...).Output()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		texts = append(texts, reportOf(t, file, log))
		reports = append(reports, readReport(t, []byte(reportOf(t, "--format", "json", "--skip-asm", file, log))).Profiles[0])
	}
	assert.Contains(t, texts[0], "Lockstep::alpha")
	assert.Equal(t, texts[2], texts[0], "the default fields, and those that gasm asks for")
	assert.Equal(t, texts[3], texts[1], "the same, with stacks")
	assert.Equal(t, texts[4], texts[1], "with offsets")
	plain, stacked := &reports[0], &reports[1]
	assert.NotContains(t, texts[1], "could not be read")
	assert.Equal(t, plain.Regions, stacked.Regions, "with stacks and without")
	assert.Equal(t, plain.Sources, stacked.Sources)
	assert.Equal(t, plain.Methods, stacked.Methods)
	assert.Equal(t, plain.Threads, stacked.Threads)
	assert.Nil(t, plain.Stacks)
	a := stacked.Account.Of(hottestEvent(stacked))
	t.Logf("%+v", a)
	assert.Equal(t, a.Profiled, a.StackWhole+a.StackCut+a.StackFrozen+a.StackUnwalked)
	assert.Equal(t, a.Profiled, stacked.Stacks.Nodes[0].Counts.Of(hottestEvent(stacked)), "the tree has all samples")
	assert.Greater(t, a.StackWhole, a.Profiled/2)

	// The file still contains the text that was written last, which has stacks.
	assert.Equal(t, a.Profiled, collapsedTotal(t, reportOf(t, "--format", "collapsed", file, log)))
	assert.Equal(t, a.Profiled, pprofTotal(t, reportOf(t, "--format", "pprof", file, log)))
	under := readReport(t, []byte(reportOf(t, "--format", "json", "--skip-asm", "--under", "start_thread", file,
		log))).Profiles[0]
	u := under.Account.Of(hottestEvent(&under))
	// Stacks of the program are complete if they end in one of these methods. The launcher has a thread that starts
	// the JVM, which has a few samples. Its stacks end in main's caller.
	assert.LessOrEqual(t, u.Profiled, a.StackWhole)
	assert.GreaterOrEqual(t, u.Profiled, a.StackWhole*49/50)
	assert.Equal(t, a.Profiled, u.Profiled+u.NotUnder)

	// Without the option for frame pointers, the stacks of the JVM end at the innermost Java frame.
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(log, []byte(strings.Replace(string(text), "-XX:+PreserveFramePointer",
		"-XX:-PreserveFramePointer", 1)), 0o600))
	cut := reportOf(t, file, log)
	assert.Contains(t, strings.Join(strings.Fields(cut), " "), "are cut at their innermost Java frame")
	assert.Contains(t, texts[1], "Lockstep::main")
}

// collapsedTotal returns the number of samples in collapsed stacks.
func collapsedTotal(t *testing.T, text string) (sum int64) {
	t.Helper()
	for line := range strings.Lines(text) {
		n, err := strconv.ParseInt(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 10, 64)
		require.NoError(t, err)
		sum += n
	}
	return sum
}

// pprofTotal returns the number of samples in a pprof profile.
func pprofTotal(t *testing.T, data string) (sum int64) {
	t.Helper()
	for _, s := range readPprof(t, []byte(data)).Sample {
		sum += s.Value[0]
	}
	return sum
}
