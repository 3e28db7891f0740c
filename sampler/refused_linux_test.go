package sampler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// refusedFor starts perf, which must be refused for the reason.
func refusedFor(t *testing.T, opts Options, reason Reason, message string) {
	t.Helper()
	opts.Dir, opts.Frequency = t.TempDir(), 999
	_, err := StartPerf(t.Context(), opts)
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Reason != reason || !strings.Contains(err.Error(), message) || refused.Stderr == "" {
		t.Errorf("%v: got %v (%+v), want %s", opts.Events, err, refused, message)
	}
	if files, _ := os.ReadDir(opts.Dir); len(files) > 0 {
		t.Errorf("%v: left %v", opts.Events, files)
	}
	noneLeft(t, opts.Dir)
}

func TestPerfRefusesEvent(t *testing.T) {
	needPerf(t)
	pid := hold(t, busy).pid()
	refusedFor(t, Options{PID: pid, Events: []string{"nosuchevent"}},
		ReasonUnknownEvent, "perf: there is no event nosuchevent; `perf list` names what there is")
	refusedFor(t, Options{PID: pid, Events: []string{"cpu-clock", "nosuchevent:u", "page-faults"}},
		ReasonUnknownEvent, "there is no event nosuchevent:u;")
	refusedFor(t, Options{PID: pid, Events: []string{"cpu-clock", "page-faults:u", "cpu-clock:q", "page-faults"}},
		ReasonUnknownEvent, "there is no event cpu-clock:q;")
	refusedFor(t, Options{PID: pid, Events: []string{"cpu/foo/"}}, ReasonUnknownEvent, "there is no event cpu/foo/;")
	if os.Geteuid() == 0 {
		refusedFor(t, Options{PID: pid, Events: []string{"cpu-clock", "sched:nosuch"}}, ReasonUnknownEvent, "there is no event sched:nosuch;")
	}

	if err := exec.Command("perf", "record", "-e", "cache-misses:u", "-o", "/dev/null", "true").Run(); err == nil {
		t.Skip("this machine has cache-misses")
	}
	refusedFor(t, Options{PID: pid, Events: []string{"cache-misses:u"}},
		ReasonUnsupportedEvent, "this machine can't sample cache-misses:u (The cache-misses:u event is not supported); `perf list`")
}

func TestPerfTargetGone(t *testing.T) {
	needPerf(t)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	pid := gone.Process.Pid
	refusedFor(t, Options{PID: pid}, ReasonTargetGone, fmt.Sprintf("perf: process %d has ended", pid))
}

func TestPerfNoFolder(t *testing.T) {
	needPerf(t)
	_, err := StartPerf(t.Context(), Options{PID: os.Getpid(), Events: []string{"cpu-clock:u"}, Frequency: 99, Dir: "/nonexistent"})
	if err == nil || !strings.Contains(err.Error(), "-o /nonexistent/perf.data") || !strings.Contains(err.Error(), "No such file or directory") {
		t.Errorf("got %v", err)
	}
}

// asNobody samples the process as the user nobody and returns what the helper
// printed.
func asNobody(t *testing.T, events string, pid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gasm-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, int(nobody.Uid), int(nobody.Gid)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", events, strconv.Itoa(pid), dir)
	cmd.Env = append(os.Environ(), helperEnv+"=sample")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	noneLeft(t, dir)
	return string(out)
}

var nobody = &syscall.Credential{Uid: 65534, Gid: 65534}

// The real refusals of a kernel with perf_event_paranoid=2, its default.
func TestPerfParanoid(t *testing.T) {
	needPerf(t)
	needRoot(t)
	if n, ok := sysctlInt("kernel/perf_event_paranoid"); !ok || n != 2 {
		t.Skipf("kernel.perf_event_paranoid is %d, not 2", n)
	}
	own := holdAs(t, busy, nobody)
	check := func(events string, pid int, want ...string) {
		t.Helper()
		got := asNobody(t, events, pid)
		for _, line := range want {
			if !strings.Contains("\n"+got, "\n"+line+"\n") {
				t.Errorf("%s: got\n%s\nwant %s", events, got, line)
			}
		}
	}
	reason := func(r Reason) string { return fmt.Sprintf("reason %d", r) }
	check("cpu-clock:k", own.pid(), reason(ReasonParanoid),
		"error perf: cpu-clock:k is refused: kernel.perf_event_paranoid is 2 and the user not root; sudo sysctl kernel.perf_event_paranoid=1")
	check("sched:sched_switch", own.pid(), reason(ReasonParanoid),
		"error perf: sched:sched_switch can't be sampled: a tracepoint is for root only; sudo sysctl kernel.perf_event_paranoid=-1, or run as root")
	check("cpu-clock", hold(t, busy).pid(), reason(ReasonOwner))
	check("cpu-clock", own.pid(), "event cpu-clock", "note kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1")
	check("cpu-clock:u", own.pid(), "event cpu-clock:u")
	if got := asNobody(t, "cpu-clock:u", own.pid()); strings.Contains(got, "note") {
		t.Errorf("asked for user space only: %s", got)
	}
}

func TestPerfSeccomp(t *testing.T) {
	needPerf(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("perf")
	if err != nil {
		t.Fatal(err)
	}
	fakePerf(t, fmt.Sprintf("%s=seccomp exec '%s' '%s' \"$@\"", helperEnv, self, tool))
	refusedFor(t, Options{PID: hold(t, busy).pid()}, ReasonSandbox,
		"in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined")
}

// A perf before 5.9 has no --control, one before 4.13 no --show-lost-events.
func TestPerfOld(t *testing.T) {
	needPerf(t)
	tool, err := exec.LookPath("perf")
	if err != nil {
		t.Fatal(err)
	}
	fakePerf(t, `for a; do case $a in --control|--show-lost-events)
		printf "  Error: unknown option \140%s'\n\n Usage: perf record [<options>]\n" "${a#--}" >&2; exit 129;;
		esac; done
		exec '`+tool+`' "$@"`)
	x := hold(t, busy)
	dir := t.TempDir()
	began := time.Now()
	p := start(t, Options{PID: x.pid(), Events: []string{"cpu-clock"}, Dir: dir})
	t.Logf("start took %v", time.Since(began))
	x.release(t)
	time.Sleep(300 * time.Millisecond)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if n := samples(t, p); n[x.pid()] < 10 {
		t.Errorf("samples by pid: %v", n)
	}
	noneLeft(t, dir)

	_, err = StartPerf(t.Context(), Options{PID: x.pid(), Events: []string{"nosuchevent"}, Frequency: 99, Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "no event nosuchevent") {
		t.Errorf("got %v", err)
	}
}

// A perf that says that cycles is not supported, as most versions do, in place
// of taking cpu-clock by itself.
func TestPerfNoCycles(t *testing.T) {
	needPerf(t)
	tool, err := exec.LookPath("perf")
	if err != nil {
		t.Fatal(err)
	}
	fakePerf(t, `for a; do case $a in cycles*)
		printf 'Error:\nThe %s event is not supported.\n' "$a" >&2; exit 255;;
		esac; done
		exec '`+tool+`' "$@"`)
	pid := hold(t, busy).pid()
	p := start(t, Options{PID: pid})
	if notes := p.Notes(); p.Event() != "cpu-clock" || len(notes) < 1 || !strings.HasPrefix(notes[0], "no hardware cycles counter here (virtual machine?): sampled cpu-clock instead") {
		t.Errorf("event %s, notes %q", p.Event(), notes)
	}
	refusedFor(t, Options{PID: pid, Events: []string{"cycles:u"}}, ReasonUnsupportedEvent, "can't sample cycles:u")
}

// A perf that hangs is killed with its children.
func TestPerfHangs(t *testing.T) {
	fakePerf(t, `sleep 1000 & wait`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	dir := t.TempDir()
	_, err := StartPerf(ctx, Options{PID: os.Getpid(), Frequency: 99, Dir: dir})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	noneLeft(t, dir)
}

// fakePerf puts a shell script named perf on PATH, in front of the real one.
func fakePerf(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "perf"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
