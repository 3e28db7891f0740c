package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() { helpers["seccomp"] = helpSeccomp }

// The machine that the tests run on can profile.
func TestCheck(t *testing.T) {
	needPerf(t)
	java := needJava(t)
	began := time.Now()
	r := check(t)
	t.Logf("took %v", time.Since(began))
	assert.True(t, r.CanProfile, r.Cause)
	assert.Equal(t, "perf", r.Sampler)
	assert.Contains(t, perfEvents, r.Event)
	assert.Equal(t, OK, finding(t, r, "system", "os").Status)
	assert.Regexp(t, `^/.*/perf, version \d`, finding(t, r, "perf", "found").Text)
	assert.Regexp(t, `^takes `+r.Event+`; \d+ samples`, finding(t, r, "perf", "sampling").Text)
	assert.Contains(t, finding(t, r, "perf", "events").Text, r.Event)

	home := "jdk " + filepath.Dir(filepath.Dir(java))
	assert.Contains(t, finding(t, r, home, "version").Text, "(PATH")
	assert.Regexp(t, `^printed as (bytes|text)`, finding(t, r, home, "code").Text)
	assert.Regexp(t, `^\d+ MB, segmented$`, finding(t, r, "code cache", "size").Text)
	seen := map[string]bool{}
	for _, f := range r.Checks {
		assert.False(t, seen[f.Area+f.Name], "%s, %s twice: links are resolved", f.Area, f.Name)
		seen[f.Area+f.Name] = true
		assert.NotEmpty(t, f.Text, "%s, %s", f.Area, f.Name)
	}
}

func TestNoSampler(t *testing.T) {
	needJava(t)
	if _, err := os.Stat("/usr/sbin/dtrace"); err == nil {
		t.Skip("has a dtrace that is found without PATH")
	}
	onlyOnPath(t, "java", "sh")
	r := check(t)
	assert.False(t, r.CanProfile)
	assert.Empty(t, r.Sampler)
	f := finding(t, r, "perf", "found")
	assert.Equal(t, Finding{"perf", "found", Problem, "not on PATH", f.Mend}, f)
	assert.Contains(t, f.Mend, "perf")
	assert.Equal(t, "gasm can't profile here: perf: not on PATH; first: "+f.Mend, r.Verdict())
	assert.Equal(t, Note, finding(t, r, "dtrace", "found").Status)
}

// A kernel whose perf_event_paranoid is 2, the default, and a user without
// rights.
func TestNobody(t *testing.T) {
	needPerf(t)
	needJava(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to run as another user")
	}
	if level := readTrimmed("/proc/sys/kernel/perf_event_paranoid"); level != "2" {
		t.Skipf("kernel.perf_event_paranoid is %s, not 2", level)
	}
	temp, err := os.MkdirTemp("/tmp", "gasm-nobody-")
	require.NoError(t, err)
	defer os.RemoveAll(temp)
	require.NoError(t, os.Chown(temp, 65534, 65534))
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperEnv+"=check", "TMPDIR="+temp, "HOME=/nonexistent")
	cmd.Dir = temp
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	require.NoError(t, err, exitText(err))
	assertClean(t, temp)
	r := readReport(t, out)
	assert.True(t, r.CanProfile, r.Cause)
	f := finding(t, r, "perf", "paranoid")
	assert.Equal(t, Note, f.Status)
	assert.Contains(t, f.Text, "kernel samples are not visible")
	assert.Equal(t, "sudo sysctl kernel.perf_event_paranoid=1", f.Mend)
	assert.Contains(t, finding(t, r, "perf", "capabilities").Text, "none of CAP_PERFMON")
}

// perf_event_open gets EPERM, as from Docker's filter.
func TestSeccomp(t *testing.T) {
	needPerf(t)
	self, err := os.Executable()
	require.NoError(t, err)
	tool, err := exec.LookPath("perf")
	require.NoError(t, err)
	dir := t.TempDir()
	script(t, filepath.Join(dir, "perf"), fmt.Sprintf("%s=seccomp exec '%s' '%s' \"$@\"", helperEnv, self, tool))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := &Report{}
	perf := checkPerf(t.Context(), t.TempDir())
	r.Checks = perf.checks
	r.judge(perf, samplerResult{}, []jdkResult{{works: true}}, Finding{}, Finding{})
	assert.False(t, r.CanProfile)
	f := finding(t, r, "perf", "sampling")
	assert.Equal(t, Problem, f.Status)
	assert.Contains(t, f.Text, "the kernel blocks perf_event_open")
	assert.Contains(t, f.Mend, "docker run --cap-add PERFMON --security-opt seccomp=unconfined")
	assert.Equal(t, f.Mend, r.Mend)
	assert.Equal(t, "none of cycles:P, cycles, instructions, cpu-clock opens", finding(t, r, "perf", "events").Text)
}

// A perf that opens what never fires: its recording has no samples.
func TestNoSamples(t *testing.T) {
	needPerf(t)
	tool, err := exec.LookPath("perf")
	require.NoError(t, err)
	dir := t.TempDir()
	script(t, filepath.Join(dir, "perf"), `case $1 in script) exit 0;; esac; exec '`+tool+`' "$@"`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	perf := checkPerf(t.Context(), t.TempDir())
	assert.False(t, perf.works)
	assert.Contains(t, perf.cause, "opens, but no sample came of 0.")
	assert.Equal(t, "gasm profile --event cpu-clock ...", perf.mend)
}

// Ubuntu's script without the perf of the kernel.
func TestPerfOfKernelMissing(t *testing.T) {
	needPerf(t)
	dir := t.TempDir()
	script(t, filepath.Join(dir, "perf"), `echo 'WARNING: perf not found for kernel 6.8.0-87' >&2; exit 2`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	perf := checkPerf(t.Context(), t.TempDir())
	assert.False(t, perf.works)
	assert.Equal(t, Problem, perf.checks[0].Status)
	assert.Contains(t, perf.checks[0].Text, "version unknown: WARNING: perf not found for kernel")
	assert.Contains(t, perf.cause, "perf: no perf for the kernel")
	assert.Contains(t, perf.mend, "perf")
	assert.NotContains(t, perf.mend, "install it")
}

// Options that win over gasm's make the JVM write its log elsewhere.
func TestLogTakenAway(t *testing.T) {
	needPerf(t)
	needJava(t)
	log := filepath.Join(t.TempDir(), "mine.log")
	t.Setenv("_JAVA_OPTIONS", "-XX:LogFile="+log)
	r := check(t)
	assert.NoFileExists(t, log)
	assert.False(t, r.CanProfile)
	assert.Equal(t, "unset _JAVA_OPTIONS", r.Mend)
	assert.Contains(t, finding(t, r, "jdk", "code").Text, "not tried: _JAVA_OPTIONS has -XX:LogFile=")
}

func needDTrace(t *testing.T) string {
	t.Helper()
	path, err := findDTrace()
	if err != nil {
		t.Skip("no dtrace on PATH")
	}
	if os.Geteuid() != 0 || testing.Short() {
		t.Skip("dtrace needs root, and time")
	}
	return path
}

func TestDTrace(t *testing.T) {
	needDTrace(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r := checkDTrace(t.Context(), t.TempDir())
	assert.True(t, r.works, r.cause)
	assert.Equal(t, "profile-1001", r.event)
	assert.Regexp(t, `^/.*dtrace, D \d`, r.checks[0].Text)
	assert.Equal(t, Finding{"dtrace", "sampling", OK, "runs", ""}, r.checks[1])
	assertClean(t, temp)
}

// A dtrace that works as root only, and a sudo that asks for no password, and
// one that does.
func TestDTraceSudo(t *testing.T) {
	dtrace := needDTrace(t)
	dir := t.TempDir()
	script(t, filepath.Join(dir, "dtrace"), `[ "$ROOT" ] && exec `+dtrace+` "$@"
		echo "dtrace: failed to initialize dtrace: DTrace requires additional privileges" >&2; exit 1`)
	script(t, filepath.Join(dir, "sudo"), `[ "$1" = -n ] && shift && ROOT=1 exec "$@"`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	var r samplerResult
	r.tryBoth(t.Context(), t.TempDir(), false)
	assert.True(t, r.works && r.sudo, r.cause)
	assert.Equal(t, Finding{"dtrace", "sampling", Note, "runs under sudo only, which asks for no password", "gasm profile --sampler dtrace --sudo ..."}, r.checks[0])

	script(t, filepath.Join(dir, "sudo"), "echo 'sudo: a password is required' >&2; exit 1")
	r = samplerResult{}
	r.tryBoth(t.Context(), t.TempDir(), false)
	assert.False(t, r.works)
	assert.Equal(t, "dtrace: only root may sample with it; sudo asks for a password", r.cause)
	assert.Equal(t, "sudo -v && gasm profile --sampler dtrace --sudo ...", r.mend)
}

// SystemTap installs a script of the same name.
func TestSystemTap(t *testing.T) {
	dir := t.TempDir()
	script(t, filepath.Join(dir, "dtrace"), `echo "Usage $0 [--help] [-h | -G] [-C [-I<Path>]] -s File.d [-o <File>]" >&2; exit 1`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := checkDTrace(t.Context(), t.TempDir())
	assert.True(t, r.missing)
	assert.Contains(t, r.checks[0].Text, "is SystemTap's")
	assert.NotEmpty(t, r.mend)
}

// Stopped at any time, nothing is left.
func TestStopped(t *testing.T) {
	for _, after := range []time.Duration{20, 100, 200, 350, 500, 700} {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
		_, err := Check(ctx, Options{})
		cancel()
		if err != nil { // it can be faster
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		}
		assertClean(t, temp)
	}
}

// helpSeccomp runs a command that gets EPERM for perf_event_open.
func helpSeccomp(args []string) int {
	const (
		setNoNewPrivs, setSeccomp, modeFilter = 38, 22, 2
		load, jumpEqual, ret                  = 0x20, 0x15, 0x06 // the filter's instructions
		allow, failWith                       = 0x7fff0000, 0x00050000
	)
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	filter := []instruction{
		{load, 0, 0, 0}, // the number of the system call
		{jumpEqual, 0, 1, syscall.SYS_PERF_EVENT_OPEN},
		{ret, 0, 0, failWith | uint32(syscall.EPERM)},
		{ret, 0, 0, allow},
	}
	program := struct {
		n            uint16
		instructions *instruction
	}{uint16(len(filter)), &filter[0]}

	runtime.LockOSThread()
	for _, call := range [][3]uintptr{{setNoNewPrivs, 1, 0}, {setSeccomp, modeFilter, uintptr(unsafe.Pointer(&program))}} {
		if _, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, call[0], call[1], call[2], 0, 0, 0); errno != 0 {
			panic(errno)
		}
	}
	err := syscall.Exec(args[0], args, os.Environ())
	fmt.Fprintln(os.Stderr, err, strings.Join(args, " "))
	return 1
}
