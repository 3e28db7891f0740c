package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// withOnly leaves only the given commands on PATH.
func withOnly(t *testing.T, commands ...string) runOpt {
	t.Helper()
	dir := t.TempDir()
	for _, name := range commands {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	return withEnv("PATH=" + dir)
}

var dtraceInUse sync.Mutex // by a parallel test

// takeDTrace waits until no other parallel test uses DTrace, and then reserves DTrace until the test ends. The reason
// is that if two DTraces start at the same time, one of them can fail. Tests that are not parallel need no
// reservation against each other.
func takeDTrace(t *testing.T) {
	t.Helper()
	dtraceInUse.Lock()
	t.Cleanup(dtraceInUse.Unlock)
}

// TestAutoTakesDTrace checks that --sampler auto uses DTrace if neither perf_event_open nor perf works, and says why.
func TestAutoTakesDTrace(t *testing.T) {
	gasmtest.NeedDTrace(t)
	r := runGasm(t, []string{"profile", "--frequency", "997", "--", "java", "-cp", javaPrograms(t), "Exit", "0"},
		withBlocked(t, "processes", "java", "dtrace"))
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `(?m)^Sampler: +dtrace, profile-997 at 997 Hz$`, r.stdout)
	assert.Contains(t, oneLine(r.stdout), "note: gasm could not sample by itself: perf_event_open is blocked")
	assert.Contains(t, oneLine(r.stdout), "; nor could perf be used: not on PATH; install it: ")
	assert.Regexp(t, `^(gasm: dtrace still .*)?$`, r.said(), "on a busy machine DTrace is slow to end")
}

func TestDTraceMissing(t *testing.T) {
	if _, err := os.Stat("/usr/sbin/dtrace"); err == nil {
		t.Skip("DTrace is where it is found without PATH")
	}
	dir := t.TempDir()
	r := runGasm(t, []string{"profile", "--sampler", "dtrace", "--", "touch", filepath.Join(dir, "ran")},
		withOnly(t, "touch"))
	assert.Equal(t, 1, r.code)
	assert.Regexp(t, `^gasm: dtrace: not on PATH; .*(install|get) it`, r.said())
	assert.NotContains(t, r.said(), "\n")
	assert.NoFileExists(t, filepath.Join(dir, "ran"))
}

// TestDTraceNotRoot checks that a user who is not root is told what to do, even with --sudo.
func TestDTraceNotRoot(t *testing.T) {
	t.Parallel()
	gasmtest.NeedDTrace(t)
	dir, asNobody := nobody(t)
	for flag, want := range map[string]string{
		"--sampler=dtrace": "gasm: dtrace: only root may sample with it; run gasm as root, or with --sudo",
		"--sudo":           "gasm: dtrace: sudo -n is refused (a password is required); run 'sudo -v' first",
	} {
		t.Run(flag, func(t *testing.T) {
			if _, err := exec.LookPath("sudo"); flag == "--sudo" && err != nil {
				t.Skip("no sudo on PATH: scripts/setup.sh installs it")
			}
			r := runGasm(t, []string{"profile", "--sampler", "dtrace", flag, "--", "touch", "ran"}, asNobody)
			assert.Equal(t, 1, r.code)
			assert.Contains(t, r.said(), want)
			assert.NotContains(t, r.said(), "\n")
			assert.NoFileExists(t, filepath.Join(dir, "ran"))
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestDTraceOtherProcesses checks that samples of other processes are in the account and nowhere else, and that the
// sums agree with DTrace's own text.
func TestDTraceOtherProcesses(t *testing.T) {
	gasmtest.NeedDTrace(t)
	busy := exec.Command("sh", "-c", "while :; do :; done")
	require.NoError(t, busy.Start())
	t.Cleanup(func() {
		busy.Process.Kill()
		busy.Wait()
	})
	dir := filepath.Join(t.TempDir(), "capture")
	file := filepath.Join(t.TempDir(), "report.json")
	r := runGasm(t, []string{"profile", "--sampler", "dtrace", "--frequency", "1001", "--fixed-frequency", "-o", dir,
		"--format", "json", "--report", file,
		"--", "java", "-cp", javaPrograms(t), "-Dsec=2", "Spin"})
	require.Equal(t, 0, r.code, r.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	rep := readReport(t, text)
	require.Len(t, rep.Capture.JVMs, 1)
	samples, err := os.ReadFile(filepath.Join(dir, "samples.txt"))
	require.NoError(t, err)
	var ours, others int64
	for line := range strings.Lines(string(samples)) {
		_, after, ok := strings.Cut(line, ":profile-1001 ")
		if !ok {
			continue
		}
		if strings.Fields(after)[0] == strconv.Itoa(rep.Capture.JVMs[0].PID) {
			ours++
		} else {
			others++
		}
	}
	a := rep.Profiles[0].Account.Of("profile-1001")
	assert.Equal(t, others, a.OtherProcess)
	assert.Equal(t, ours, a.OutsideWindow+a.Profiled)
	assert.Greater(t, others, int64(500), "the busy shell")
	assert.Positive(t, a.Kernel)
	t.Logf("%+v", a)
}

// TestDTraceFiles reads a saved pair of files, such as JMH's dtraceasm leaves. The account must agree with the text.
func TestDTraceFiles(t *testing.T) {
	t.Parallel()
	samples, log := savedCapture(t, "jdk17-lean-none-dtrace")
	r := runGasm(t, []string{"report", "--format", "json", samples, log})
	require.Equal(t, 0, r.code, r.stderr)
	p := readReport(t, []byte(r.stdout)).Profiles[0]
	text, err := os.ReadFile(samples)
	require.NoError(t, err)
	a := p.Account.Of("profile-1001")
	assert.EqualValues(t, bytes.Count(text, []byte(":profile-1001 ")), a.Total)
	assert.EqualValues(t, bytes.Count(text, []byte(":profile-1001 25168 ")), a.Profiled)
	assert.Zero(t, a.Unresolved)
	assert.Equal(t, "[unknown]", p.Native[0].Module, "what this DTrace had no name for")
	var names []string
	for _, n := range p.Native {
		names = append(names, n.Module+" "+n.Symbol)
	}
	assert.Contains(t, names, "libjvm.so ElfSymbolTable::lookup", "and a name that it had, demangled")
}

// spinWithDTrace runs Spin under gasm, with DTrace as the sampler.
func spinWithDTrace(t *testing.T, args ...string) (cmd *exec.Cmd, out *lineWaiter, stderr *bytes.Buffer) {
	gasmtest.NeedDTrace(t)
	return startSpin(t, append([]string{"--sampler", "dtrace"}, args...)...)
}

// dtraceOf returns the process id of the DTrace that a gasm process has started.
func dtraceOf(t *testing.T, gasm int) (pid int) {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(gasm), "dtrace").Output()
	require.NoError(t, err, "gasm has no dtrace")
	pid, err = strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	return pid
}

func TestDTraceInterrupt(t *testing.T) {
	cmd, out, stderr := spinWithDTrace(t)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	assert.Equal(t, 130, exitCode(t, cmd), stderr)
	assert.Regexp(t, `(?m)^ +\d+\.\d+%.*Spin::spin`, out.String(), "the report of what there is")
	assert.NotContains(t, stderr.String(), "gasm:")
}

// TestDTraceDies kills DTrace. Only the samples after that may be missing, and gasm must say so once.
func TestDTraceDies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "capture")
	cmd, out, stderr := spinWithDTrace(t, "-o", dir)
	dtrace := dtraceOf(t, cmd.Process.Pid)
	require.NoError(t, syscall.Kill(dtrace, syscall.SIGKILL))
	require.Eventually(t, func() bool { return syscall.Kill(dtrace, 0) != nil }, hangs, time.Millisecond,
		"gasm knows how its DTrace has ended")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.NotZero(t, exitCode(t, cmd))
	assert.Contains(t, out.String(), "Spin::spin", "the samples until then")
	assert.Contains(t, stderr.String(), "gasm: dtrace: stopped too early: signal: killed\n")
	assert.Contains(t, stderr.String(), "gasm: the capture is kept in "+dir)
	assert.Contains(t, out.String(), "note: the capture is not whole: dtrace")
}

// TestDTraceOfKilledGasm checks that DTrace ends if gasm is killed.
func TestDTraceOfKilledGasm(t *testing.T) {
	cmd, out, _ := spinWithDTrace(t)
	dtrace := dtraceOf(t, cmd.Process.Pid)
	require.NoError(t, cmd.Process.Kill())
	assert.Eventually(t, func() bool { return errors.Is(syscall.Kill(dtrace, 0), syscall.ESRCH) }, hangs,
		10*time.Millisecond, "dtrace is left behind")
	assert.NoError(t, syscall.Kill(spinPID(t, out), syscall.SIGKILL), "the user's own program goes on")
	exitCode(t, cmd)
}
