package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

func init() {
	helpers["seccomp"] = helpSeccomp
	helpers["check-blocked"] = func([]string) int {
		os.Setenv(helperEnv, "check")
		return helpSeccomp([]string{"/proc/self/exe"})
	}
}

// helpSeccomp runs a command for which perf_event_open fails with EPERM.
func helpSeccomp(command []string) int {
	fmt.Fprintln(os.Stderr, gasmtest.ExecBlocked(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM, command))
	return 1
}

// needPerf skips a test if perf can't sample, and returns the path of perf.
func needPerf(t *testing.T) (path string) {
	t.Helper()
	gasmtest.NeedTime(t)
	gasmtest.NeedPerf(t)
	return gasmtest.NeedTool(t, "perf", "scripts/setup.sh installs it")
}

// A machine with perf and a JDK can profile.
func TestCheck(t *testing.T) {
	needPerf(t)
	java := gasmtest.NeedJava(t)
	r := check(t)
	assert.True(t, r.CanProfile, r.Cause)
	assert.Equal(t, "native", r.Sampler)
	assert.Contains(t, triedEvents, r.Event)
	assert.Equal(t, OK, finding(t, r.Checks, "system", "os").Status)
	assert.Regexp(t, `^/.*/perf, version \d`, finding(t, r.Checks, "perf", "found").Text)
	for _, area := range []string{"native", "perf"} {
		assert.Regexp(t, `^samples `+r.Event+`; a busy process gave [1-9]\d* samples`,
			finding(t, r.Checks, area, "sampling").Text)
		assert.Contains(t, finding(t, r.Checks, area, "events").Text, r.Event)
	}
	assert.Regexp(t, `^\d+ allowed: enough for a command`, finding(t, r.Checks, "native", "open files").Text)
	assert.Regexp(t, `^\d+ KiB for \d+ CPUs`, finding(t, r.Checks, "native", "buffers").Text)

	home := "jdk " + filepath.Dir(filepath.Dir(java))
	assert.Contains(t, finding(t, r.Checks, home, "version").Text, "(PATH")
	assert.Regexp(t, `HotSpot prints (bytes|text)`, finding(t, r.Checks, home, "code").Text)
	assert.Regexp(t, `^from HotSpot's log: gc, safepoint; from Flight Recorder: compile, inlining, lock`,
		finding(t, r.Checks, home, "events").Text)
	if runtime.GOARCH == "amd64" {
		assert.Regexp(t, `^\d+ of \d+ whole, all as expected`, finding(t, r.Checks, home, "stacks").Text)
	}
	// On a machine with less than 2 CPUs or 2 GB, the JVM uses a small code cache, which is not segmented.
	assert.Regexp(t, `^\d+ MiB, (not )?segmented`, finding(t, r.Checks, "code cache", "size").Text)
	seen := map[string]bool{}
	for _, f := range r.Checks {
		assert.False(t, seen[f.Area+f.Name], "%s, %s twice: a link may not have been resolved", f.Area, f.Name)
		seen[f.Area+f.Name] = true
		assert.NotEmpty(t, f.Text, "%s, %s", f.Area, f.Name)
	}
}

// Without perf, gasm uses its own sampler.
func TestNoPerf(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNoRaceDetector(t)
	gasmtest.NeedTime(t)
	gasmtest.NeedNative(t)
	gasmtest.NeedJava(t)
	r := checkAsUser(t, "java", "sh")
	assert.True(t, r.CanProfile, r.Cause)
	assert.Equal(t, "native", r.Sampler)
	f := finding(t, r.Checks, "perf", "found")
	assert.Equal(t, Finding{"perf", "found", Note, "not on PATH; not needed, gasm samples without it", f.Fix}, f)
}

// No profile can be made if perf_event_open is blocked as by Docker's filter, perf is missing, and dtrace is missing or
// works only for root.
func TestNoSampler(t *testing.T) {
	t.Parallel()
	gasmtest.NeedTime(t)
	gasmtest.NeedJava(t)
	r := helperAsUser(t, "check-blocked", "java", "sh")
	assert.False(t, r.CanProfile)
	native := finding(t, r.Checks, "native", "sampling")
	assert.Equal(t, Finding{"native", "sampling", Problem,
		"perf_event_open is blocked, for example by a container's seccomp filter (operation not permitted)",
		"in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined"}, native)
	if stacks := finding(t, r.Checks, "jdk", "stacks"); runtime.GOARCH == "amd64" {
		assert.Equal(t, Finding{stacks.Area, "stacks", Note, "no call stacks: " + native.Text, native.Fix}, stacks)
	}
	assert.Empty(t, r.Sampler)
	f := finding(t, r.Checks, "perf", "found")
	assert.Equal(t, Finding{"perf", "found", Problem, "not on PATH", f.Fix}, f)
	assert.Contains(t, f.Fix, "perf")
	assert.Equal(t, "gasm can't profile here: native: "+native.Text+"; first: "+native.Fix, r.Verdict())
	if _, err := os.Stat("/usr/sbin/dtrace"); err == nil { // the package of Debian 13 and newer
		assert.Equal(t, Problem, finding(t, r.Checks, "dtrace", "sampling").Status)
	} else {
		assert.Equal(t, Note, finding(t, r.Checks, "dtrace", "found").Status)
	}
}

// What a user without rights can sample depends on a kernel setting (perf_event_paranoid).
func TestUser(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNoRaceDetector(t)
	gasmtest.NeedTime(t)
	gasmtest.NeedNative(t)
	gasmtest.NeedJava(t)
	r := checkAsUser(t)
	assert.Contains(t, finding(t, r.Checks, "native", "capabilities").Text, "none of CAP_PERFMON")
	f := finding(t, r.Checks, "native", "paranoid")
	if level := readTrimmed("/proc/sys/kernel/perf_event_paranoid"); level == "1" || level == "0" || level == "-1" {
		assert.True(t, r.CanProfile, r.Cause)
		assert.Equal(t, OK, f.Status)
		return
	}
	assert.Equal(t, "sudo sysctl kernel.perf_event_paranoid=1", f.Fix)
	if r.CanProfile {
		assert.Equal(t, Note, f.Status)
		assert.Contains(t, f.Text, "users may sample their processes, outside of the kernel; kernel samples are not visible")
	} else { // kernels of Debian and Ubuntu, from level 3 on
		assert.Equal(t, Problem, f.Status)
		assert.Contains(t, f.Text, "users may sample nothing")
		assert.Equal(t, f.Fix, r.Fix)
	}
}

// perf_event_open fails with EPERM, as under Docker's filter.
func TestSeccomp(t *testing.T) {
	tool := needPerf(t)
	self, err := os.Executable()
	require.NoError(t, err)
	scriptOnPath(t, "perf", fmt.Sprintf("%s=seccomp exec '%s' '%s' \"$@\"", helperEnv, self, tool))
	perf := checkPerf(t.Context(), t.TempDir())
	assert.False(t, perf.works)
	f := finding(t, perf.checks, "perf", "sampling")
	assert.Equal(t, Problem, f.Status)
	assert.Contains(t, f.Text, "the kernel blocks perf_event_open")
	assert.Contains(t, f.Fix, "docker run --cap-add PERFMON --security-opt seccomp=unconfined")
	assert.Equal(t, f.Fix, perf.fix)
	assert.Equal(t, "none of cycles:P, cycles, instructions, cpu-clock opens",
		finding(t, perf.checks, "perf", "events").Text)
}

// If a counter can be opened but never fires, its recording has no samples.
func TestNoSamples(t *testing.T) {
	tool := needPerf(t)
	working := checkPerf(t.Context(), t.TempDir())
	require.True(t, working.works, working.cause)
	scriptOnPath(t, "perf", `case $1 in script) exit 0;; esac; exec '`+tool+`' "$@"`)
	perf := checkPerf(t.Context(), t.TempDir())
	assert.False(t, perf.works)
	assert.Contains(t, perf.cause, "perf: "+working.event+" opens, but 0.")
	want := "gasm profile --event cpu-clock ..."
	if working.event == "cpu-clock" {
		want = "" // there is no other event to try
	}
	assert.Equal(t, want, perf.fix)
}

// Ubuntu's /usr/bin/perf is a script that runs the perf of the running kernel.
func TestPerfOfKernelMissing(t *testing.T) {
	scriptOnPath(t, "perf", `echo 'WARNING: perf not found for kernel 6.8.0-87' >&2; exit 2`)
	perf := checkPerf(t.Context(), t.TempDir())
	assert.False(t, perf.works)
	assert.Equal(t, Problem, perf.checks[0].Status)
	assert.Contains(t, perf.checks[0].Text, "version unknown: WARNING: perf not found for kernel")
	assert.Contains(t, perf.cause, "perf: no perf for the kernel")
	assert.Contains(t, perf.fix, "perf")
	assert.NotContains(t, perf.fix, "install it")
}

// Options after gasm's own can make the JVM write its log elsewhere.
func TestLogTakenAway(t *testing.T) {
	needPerf(t)
	gasmtest.NeedJava(t)
	log := filepath.Join(t.TempDir(), "mine.log")
	t.Setenv("_JAVA_OPTIONS", "-XX:LogFile="+log)
	r := check(t)
	assert.NoFileExists(t, log)
	assert.False(t, r.CanProfile)
	assert.Equal(t, "unset _JAVA_OPTIONS", r.Fix)
	assert.Contains(t, finding(t, r.Checks, "jdk", "code").Text, "not tried: _JAVA_OPTIONS has -XX:LogFile=")
}

// needDTrace skips a test if DTrace can't sample, and returns the path of dtrace.
func needDTrace(t *testing.T) string {
	t.Helper()
	gasmtest.NeedTime(t)
	gasmtest.NeedRoot(t)
	gasmtest.NeedDTrace(t)
	path, err := dtrace.Find()
	require.NoError(t, err)
	return path
}

func TestDTrace(t *testing.T) {
	needDTrace(t)
	assertNoUprobesLeft(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r := checkDTrace(t.Context(), t.TempDir())
	assert.True(t, r.works, r.cause)
	assert.Equal(t, "profile-1001", r.event)
	assert.Regexp(t, `^/.*dtrace, D \d`, r.checks[0].Text)
	assert.Equal(t, Finding{"dtrace", "sampling", OK, "runs", ""}, r.checks[1])
	assertClean(t, temp)
}

// The dtrace here works only as root. It is tested with a sudo that asks for no password, and with one that asks.
func TestDTraceSudo(t *testing.T) {
	dtrace := needDTrace(t)
	assertNoUprobesLeft(t)
	dir := scriptOnPath(t, "dtrace", `[ "$ROOT" ] && exec `+dtrace+` "$@"
		echo "dtrace: failed to initialize dtrace: DTrace requires additional privileges" >&2; exit 1`)
	script(t, filepath.Join(dir, "sudo"), `[ "$1" = -n ] && shift && ROOT=1 exec "$@"`)
	var r samplerResult
	r.tryWithAndWithoutSudo(t.Context(), t.TempDir(), false)
	assert.True(t, r.works && r.sudo, r.cause)
	assert.Equal(t, Finding{"dtrace", "sampling", Note, "runs only with sudo, which asks for no password",
		"gasm profile --sampler dtrace --sudo ..."}, r.checks[0])

	script(t, filepath.Join(dir, "sudo"), "echo 'sudo: a password is required' >&2; exit 1")
	r = samplerResult{}
	r.tryWithAndWithoutSudo(t.Context(), t.TempDir(), false)
	assert.False(t, r.works)
	assert.Equal(t, "dtrace: only root may sample with it; sudo asks for a password", r.cause)
	assert.Equal(t, "sudo -v && gasm profile --sampler dtrace --sudo ...", r.fix)
}

// SystemTap has a script of the same name.
func TestSystemTap(t *testing.T) {
	scriptOnPath(t, "dtrace", `echo "Usage $0 [--help] [-h | -G] [-C [-I<Path>]] -s File.d [-o <File>]" >&2; exit 1`)
	r := checkDTrace(t.Context(), t.TempDir())
	assert.False(t, r.works)
	assert.Equal(t, "found", r.checks[0].Name)
	assert.Equal(t, Note, r.checks[0].Status)
	assert.Contains(t, r.checks[0].Text, "is SystemTap's")
	assert.NotEmpty(t, r.fix)
}

// No files or processes are left behind, whenever the checks are stopped.
func TestStopped(t *testing.T) {
	gasmtest.NeedTime(t)
	assertNoUprobesLeft(t)
	moments := []time.Duration{20, 200, 500} // all checks take about a second
	if gasmtest.Whole() {
		moments = []time.Duration{20, 100, 200, 350, 500, 700}
	}
	for _, after := range moments {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
		_, err := Check(ctx, Options{})
		cancel()
		if err != nil { // nil if the checks had ended before
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		}
		assertClean(t, temp)
	}
}
