package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
)

// refusedFor starts perf, which must be refused for the reason.
func refusedFor(t *testing.T, opts Options, reason Reason, message string) {
	t.Helper()
	opts.Dir, opts.Frequency = t.TempDir(), 999
	_, err := StartPerf(t.Context(), opts)
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Reason != reason || !strings.Contains(err.Error(), message) || refused.Stderr == "" {
		t.Errorf("%v: got %v (%+v), want %s", sampler.Specs(opts.Events), err, refused, message)
	}
	if files, _ := os.ReadDir(opts.Dir); len(files) > 0 {
		t.Errorf("%v: left %v", sampler.Specs(opts.Events), files)
	}
	noneLeft(t, opts.Dir)
}

func TestPerfRefusesEvent(t *testing.T) {
	gasmtest.NeedPerf(t)
	pid := hold(t, busy).pid()
	check := func(reason Reason, message string, specs ...string) {
		t.Helper()
		refusedFor(t, Options{PID: pid, Events: eventsOf(specs...)}, reason, message)
	}
	check(ReasonUnknownEvent, "perf: there is no event nosuchevent; `perf list` names what there is", "nosuchevent")
	check(ReasonUnknownEvent, "there is no event nosuchevent:u;", "cpu-clock", "nosuchevent:u", "page-faults")
	check(ReasonUnknownEvent, "there is no event cpu-clock:q;", "cpu-clock", "page-faults:u", "cpu-clock:q", "page-faults")
	check(ReasonUnknownEvent, "there is no event cpu/foo/;", "cpu/foo/")
	// msr/tsc/ counts for the whole machine. If there is no msr, the event is unknown.
	if _, err := os.Stat("/sys/bus/event_source/devices/msr"); err == nil {
		check(ReasonUnsupportedEvent, "this machine can't sample msr/tsc/ (", "msr/tsc/")
	}
}

// TestPerfRefusesTracepoint: a tracepoint's name is looked up in a folder that only root may read.
func TestPerfRefusesTracepoint(t *testing.T) {
	gasmtest.NeedPerf(t)
	gasmtest.NeedRoot(t)
	refusedFor(t, Options{PID: hold(t, busy).pid(), Events: eventsOf("cpu-clock", "sched:nosuch")},
		ReasonUnknownEvent, "there is no event sched:nosuch;")
}

// TestPerfRefusesCounter checks that an event that the machine can't count is refused, alone and in a
// list. perf 7 leaves it out of the list and samples the rest.
func TestPerfRefusesCounter(t *testing.T) {
	gasmtest.NeedPerf(t)
	if exec.Command("perf", "record", "-e", "cache-misses:u", "-o", "/dev/null", "true").Run() == nil {
		t.Skip("this machine counts cache-misses: a virtual machine without a PMU would refuse them")
	}
	pid := hold(t, busy).pid()
	refusedFor(t, Options{PID: pid, Events: eventsOf("cache-misses:u")},
		ReasonUnsupportedEvent, "this machine can't sample cache-misses:u (The cache-misses:u event is not supported); `perf list`")
	refusedFor(t, Options{PID: pid, Events: eventsOf("cpu-clock:u", "cache-misses:u")},
		ReasonUnsupportedEvent, "this machine can't sample cpu-clock:u,cache-misses:u (The cache-misses:u event is not supported); `perf list`")
}

func TestPerfTargetGone(t *testing.T) {
	gasmtest.NeedPerf(t)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	pid := gone.Process.Pid
	refusedFor(t, Options{PID: pid}, ReasonTargetGone, fmt.Sprintf("perf: process %d has ended", pid))
}

func TestPerfNoFolder(t *testing.T) {
	gasmtest.NeedPerf(t)
	_, err := StartPerf(t.Context(), Options{PID: os.Getpid(), Events: eventsOf("cpu-clock:u"), Frequency: 99, Dir: "/nonexistent"})
	if err == nil || !strings.Contains(err.Error(), "-o /nonexistent/perf.data") || !strings.Contains(err.Error(), "No such file or directory") {
		t.Errorf("got %v", err)
	}
}

// asNobody samples the process as the user nobody and returns what the helper printed.
func asNobody(t *testing.T, events string, pid int) string {
	t.Helper()
	dir := nobodysDir(t)
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

// TestPerfParanoid checks the real refusals of a kernel with perf_event_paranoid=2, its default.
func TestPerfParanoid(t *testing.T) {
	gasmtest.NeedPerf(t)
	gasmtest.NeedRoot(t)
	if n, ok := sysctlInt("kernel/perf_event_paranoid"); !ok || n != 2 {
		t.Skipf("kernel.perf_event_paranoid is %d: sudo sysctl kernel.perf_event_paranoid=2", n)
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
	const kernelMend = "kernel.perf_event_paranoid is 2 and the user not root; sudo sysctl kernel.perf_event_paranoid=1"
	check("cpu-clock:k", own.pid(), reason(ReasonParanoid), "error perf: cpu-clock:k is refused: "+kernelMend)
	check("cpu-clock:u,page-faults:k", own.pid(), reason(ReasonParanoid), "error perf: cpu-clock:u,page-faults:k is refused: "+kernelMend)
	check("sched:sched_switch", own.pid(), reason(ReasonParanoid),
		"error perf: sched:sched_switch can't be sampled: a tracepoint is for root only; sudo sysctl kernel.perf_event_paranoid=-1, or run as root")
	check("cpu-clock", hold(t, busy).pid(), reason(ReasonOwner))
	check("cpu-clock", own.pid(), "events cpu-clock", "note kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1")
	check("cpu-clock:u", own.pid(), "events cpu-clock:u")
	if got := asNobody(t, "cpu-clock:u", own.pid()); strings.Contains(got, "note") {
		t.Errorf("asked for user space only: %s", got)
	}
}

// TestPerfBlocked makes the system call fail as in a container, and as on a kernel without perf events.
func TestPerfBlocked(t *testing.T) {
	gasmtest.NeedPerf(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tool := toolPath(t, "perf")
	pid := hold(t, busy).pid()
	check := func(filter, cause string) {
		t.Helper()
		fakeTool(t, "perf", fmt.Sprintf("%s=%s exec '%s' '%s' \"$@\"", helperEnv, filter, self, tool))
		cause = "the kernel blocks perf_event_open (" + cause
		refusedFor(t, Options{PID: pid}, ReasonSandbox, "; in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined")
		refusedFor(t, Options{PID: pid, Events: eventsOf("cpu-clock")}, ReasonSandbox, cause)
		refusedFor(t, Options{PID: pid, Events: eventsOf("cpu-clock", "page-faults")}, ReasonSandbox, cause)
	}
	check("seccomp", "No permission to enable cpu-clock event); ")
	check("no-perf-events", "The sys_perf_event_open() syscall ")
}

// TestPerfOld has a perf before 5.9, which has no --control, and one before 4.13, which has no
// --show-lost-events.
func TestPerfOld(t *testing.T) {
	gasmtest.NeedPerf(t)
	tool := toolPath(t, "perf")
	fakeTool(t, "perf", `for a; do case $a in --control|--show-lost-events)
		printf "  Error: unknown option \140%s'\n\n Usage: perf record [<options>]\n" "${a#--}" >&2; exit 129;;
		esac; done
		exec '`+tool+`' "$@"`)
	x := hold(t, busy)
	dir := t.TempDir()
	began := time.Now()
	p := start(t, Options{PID: x.pid(), Events: eventsOf("cpu-clock"), Dir: dir})
	t.Logf("start took %v", time.Since(began))
	x.release(t)
	x.works(t)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if n := byPID(recorded(t, p)); n[x.pid()] < 10 {
		t.Errorf("samples by pid: %v", n)
	}
	noneLeft(t, dir)

	_, err := StartPerf(t.Context(), Options{PID: x.pid(), Events: eventsOf("nosuchevent"), Frequency: 99, Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "no event nosuchevent") {
		t.Errorf("got %v", err)
	}
}

// TestPerfNoCycles has a perf that says that cycles are not supported, and does not use a clock by
// itself.
func TestPerfNoCycles(t *testing.T) {
	gasmtest.NeedPerf(t)
	cyclesCounted(t)
	tool := toolPath(t, "perf")
	fakeTool(t, "perf", `for a; do case $a in cycles*)
		printf 'Error:\nThe %s event is not supported.\n' "$a" >&2; exit 255;;
		esac; done
		exec '`+tool+`' "$@"`)
	pid := hold(t, busy).pid()
	p := start(t, Options{PID: pid})
	if notes := p.Notes(); specsOf(p) != "cpu-clock" || len(notes) < 1 || !strings.HasPrefix(notes[0], "no cycles counter (qemu: pmu=on), so cpu-clock") {
		t.Errorf("events %s, notes %q", specsOf(p), notes)
	}
	refusedFor(t, Options{PID: pid, Events: eventsOf("cycles:u")}, ReasonUnsupportedEvent, "can't sample cycles:u")
}

// TestPerfHangs checks that a perf that hangs is killed with its children.
func TestPerfHangs(t *testing.T) {
	fakeTool(t, "perf", `sleep 1000 & wait`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	dir := t.TempDir()
	_, err := StartPerf(ctx, Options{PID: os.Getpid(), Frequency: 99, Dir: dir})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	noneLeft(t, dir)
}
