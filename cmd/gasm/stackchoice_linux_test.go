package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

func needStacks(t *testing.T) {
	t.Helper()
	gasmtest.NeedNative(t)
	if !stack.Supported() {
		t.Skip("stacks are not walked on this kind of processor")
	}
}

// hasStacks reports whether a capture's samples have call stacks. The notes are all of the capture's.
func hasStacks(t *testing.T, dir string) (stacks bool, notes string) {
	t.Helper()
	c, err := capture.Open(dir)
	require.NoError(t, err)
	defer c.Close()
	_, err = os.Stat(filepath.Join(dir, capture.StacksFile))
	assert.Equal(t, c.Stacks > 0, err == nil)
	return c.Stacks > 0, strings.Join(c.Notes, "\n")
}

// Call stacks, and an agent that records a method's calls, find the same samples within the method. gasm attach needs
// no agent if there are stacks.
func TestWindowMethodByStack(t *testing.T) {
	needStacks(t)
	gasmtest.NeedTime(t)
	dir := filepath.Join(t.TempDir(), "capture")
	classes := probedClasses(t)
	args := []string{"profile", "-o", dir, "--skip-asm", "--stacks", "on", "--frequency", "1001", "--window-method",
		"Calls::handle(int)", "--", gasmtest.NeedJava(t), "-Dsec=2", "-XX:CompileCommand=quiet"}
	for _, m := range []string{"handle", "part", "background"} {
		args = append(args, "-XX:CompileCommand=dontinline,Calls::"+m)
	}
	r := runGasm(t, append(args, "-cp", classes, "Calls"))
	require.Equal(t, 0, r.code, r.stderr)
	account := func(flags ...string) *schema.Account {
		t.Helper()
		p := &readReport(t, []byte(reportOf(t, append(append([]string{"--format", "json", "--skip-asm"}, flags...),
			dir)...))).Profiles[0]
		a := p.Account.Of(hottestEvent(p))
		assert.Equal(t, a.Total, a.OutsideWindow+a.OtherProcess+a.OtherThread+a.OutsideMethod+a.NotUnder+a.Printing+a.Lost+a.Profiled, "%q", flags)
		assert.Equal(t, a.Profiled, a.StackWhole+a.StackCut+a.StackFrozen+a.StackUnwalked, "%q", flags)
		return &a
	}
	all, byAgent, byStack := account(), account("--window-method", "Calls::handle(int)"), account("--window-method",
		"Calls::handle")
	t.Logf("%d samples, within the method %d by the agent and %d by the stacks", all.Profiled, byAgent.Profiled,
		byStack.Profiled)
	// The time that the agent itself takes, for its clock and its ring, is not a part of the call that it records, but
	// it passes within the method's frame. A call takes 20 us and more.
	assert.InDelta(t, byAgent.Profiled, byStack.Profiled, 0.1*float64(byAgent.Profiled)+10)
	assert.Equal(t, all.Profiled, byStack.Profiled+byStack.OutsideMethod)
	under := account("--under", "Calls::handle")
	assert.Equal(t, byStack.Profiled, under.Profiled)
	assert.Equal(t, byStack.OutsideMethod, under.NotUnder)
	// HotSpot does not name the main thread
	inMain := account("--window-method", "Calls::handle", "--thread", "^java$", "--under", "Calls::part")
	assert.Equal(t, all.Profiled, inMain.Profiled+inMain.OtherThread+inMain.OutsideMethod+inMain.NotUnder)
	// A sample in the method that main calls last has no callers if gasm did not get to its stack in time: so it is in the
	// program's first milliseconds, while gasm still looks for the JVM.
	part := account("--under", "Calls::part")
	assert.Equal(t, part.StackWhole, inMain.Profiled, "only main calls it, in that method")
	assert.Equal(t, part.Profiled-part.StackWhole, part.StackUnwalked, "%+v", part)
	assert.Less(t, part.StackUnwalked, part.StackWhole/10, "%+v", part)
	r = runGasm(t, []string{"report", "--window-method", "Calls::handle", "--thread", "background", dir})
	assert.Contains(t, r.stderr, "no sample is of a thread that was in the method (--thread background --window-method Calls::handle)")

	j := startJVM(t, "READY", gasmtest.NeedJava(t), "-Dsec=60", "-cp", classes, "Calls")
	file := filepath.Join(t.TempDir(), "report.json")
	gasm := exec.Command(binary, "attach", "--format", "json", "--report", file, "--stacks", "on", "--window-method",
		"Calls::handle", "--skip-asm", j.pid())
	stderr := newLineWaiter("sampling pid")
	gasm.Stderr = stderr
	require.NoError(t, gasm.Start())
	stderr.wait(t)
	gasmtest.AwaitWork(t, j.cmd.Process.Pid, 500*time.Millisecond) // on a busy machine that takes longer
	require.NoError(t, gasm.Process.Signal(os.Interrupt))
	require.Equal(t, 0, exitCode(t, gasm), stderr)
	attached := readReport(t, readFile(t, file))
	require.Len(t, attached.Profiles, 1, stderr)
	assert.Positive(t, attached.Profiles[0].Account.Of(hottestEvent(&attached.Profiles[0])).OutsideMethod)
	maps := string(readFile(t, "/proc/"+j.pid()+"/maps"))
	assert.Contains(t, maps, "libjvm.so")
	assert.NotContains(t, maps, "libinstrument", "an agent was loaded")
}

// --stacks auto records stacks of any command but JMH, and says why it does not.
func TestStacksAuto(t *testing.T) {
	t.Parallel()
	needStacks(t)
	gasmtest.NeedTime(t)
	record := func(command []string, flags ...string) (stacks bool, notes string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "capture")
		r := runGasm(t, append(append([]string{"profile", "-o", dir, "--record-only"}, flags...),
			append([]string{"--"}, command...)...))
		require.Equal(t, 0, r.code, r.stderr)
		return hasStacks(t, dir)
	}
	spin := []string{gasmtest.NeedJava(t), "-cp", javaPrograms(t), "Exit", "0"}
	stacks, notes := record(spin, "--stacks", "auto")
	assert.True(t, stacks)
	assert.NotContains(t, notes, "no call stacks")
	if strings.Contains(notes, "of the time") {
		// A sample costs so much here that gasm takes fewer than usual. If the machine does other work during the
		// measurement, a sample without a stack can look as expensive as one with a stack.
		assert.Regexp(t, `(?m)\d+ Hz takes \d\.\d %, 1001 \d+\.\d % of the time(; a sample takes \d+\.\d us, of which \d+\.\d are for its call stack)?$`, notes)
	}
	stacks, notes = record(spin, "--stacks", "off")
	assert.False(t, stacks)
	assert.NotContains(t, notes, "call stack")
	if perf, err := exec.LookPath("perf"); err == nil {
		t.Log(perf)
		stacks, notes = record(spin, "--stacks", "auto", "--sampler", "perf")
		assert.False(t, stacks)
		assert.Contains(t, notes, "no call stacks: perf can only follow frame pointers, which few JVMs keep: use --sampler native, or --stacks on")
	}

	jmh := []string{"java", "-Djmh.ignoreLock=true", "-jar", gasmtest.NeedBenchmarks(t), "-f", "1", "-wi", "0", "-i", "1",
		"-r", "200ms", "-p", "size=1024", "VectorSum"}
	stacks, notes = record(jmh, "--stacks", "auto")
	assert.False(t, stacks)
	assert.Contains(t, notes, "no call stacks: they are off for JMH, because each takes time of the benchmark: --stacks on records them (-prof gasm:stacks=on)")
	stacks, notes = record(jmh, "--stacks", "on")
	assert.True(t, stacks)
	assert.NotContains(t, notes, "call stacks:")
	script := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nexec "+strings.Join(jmh, " ")+"\n"), 0o755))
	stacks, notes = record([]string{script}, "--stacks", "auto")
	assert.True(t, stacks)
	assert.Regexp(t, "the samples of JMH's trials have call stacks, which take time of the benchmarks, because the command does not show that it runs JMH: --stacks off leaves them out", notes)
}

// JMH's profiler records stacks if it is asked for them.
func TestJMHProfilerStacks(t *testing.T) {
	t.Parallel()
	needStacks(t)
	gasmtest.NeedTime(t)
	for _, on := range []bool{false, true} {
		dir := t.TempDir()
		option := "gasm:top=1;dir=" + dir + ";gasm=" + binary
		if on {
			option += ";stacks=on"
		} else {
			option += ";stacks=auto"
		}
		out, err := runProfiler(t, []string{"-f", "1", "-wi", "0", "-i", "1", "-r", "200ms", "-p", "size=1024", "-prof",
			option, "VectorSum"})
		require.NoError(t, err, out)
		captures, err := filepath.Glob(filepath.Join(dir, "*", "fork-1"))
		require.NoError(t, err)
		require.Len(t, captures, 1, out)
		stacks, notes := hasStacks(t, captures[0])
		assert.Equal(t, on, stacks)
		assert.Equal(t, !on, strings.Contains(notes, "no call stacks: they are off for JMH"), notes)
	}
}

// A user who may lock little memory has stacks if there is enough room for them, and otherwise learns what to do.
func TestStacksWithLittleMemory(t *testing.T) {
	needStacks(t)
	gasmtest.NeedTime(t)
	_, asNobody := nobody(t)
	java, classes := gasmtest.NeedJava(t), javaPrograms(t)
	withoutMemory := func(c *exec.Cmd) {
		c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -l 0 && exec "$@"`, "sh"}, c.Args...)
	}
	record := func(choice, frequency string) (stacks bool, notes string) {
		t.Helper()
		const dir = "capture"
		var folder string
		r := runGasm(t, []string{"profile", "-o", dir, "--record-only", "--stacks", choice, "--frequency", frequency, "--",
			java, "-cp", classes, "Exit", "0"},
			asNobody, withoutMemory, func(c *exec.Cmd) { folder = c.Dir })
		require.Equal(t, 0, r.code, r.stderr)
		defer os.RemoveAll(filepath.Join(folder, dir))
		return hasStacks(t, filepath.Join(folder, dir))
	}
	often := "4999"
	stacks, notes := record("auto", often)
	if stacks && !strings.Contains(notes, "deep call stacks are cut") {
		t.Skip("kernel.perf_event_mlock_kb is high here")
	}
	assert.False(t, stacks)
	const fix = "raise the limit of locked memory (ulimit -l, or sysctl kernel.perf_event_mlock_kb)"
	assert.Contains(t, notes, "no call stacks: there is room for only 8 KiB of a call stack in the kernel's buffers: "+fix)
	stacks, notes = record("on", often)
	assert.True(t, stacks)
	assert.Contains(t, notes, "deep call stacks are cut: there is room for 8 KiB of a stack in the kernel's buffers: "+fix)
	stacks, _ = record("auto", "101")
	assert.True(t, stacks, "a sample has more room then")
}
