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
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// refusedFor starts perf. The start must be refused for the given reason.
func refusedFor(t *testing.T, opts Options, reason failure.Reason, message string) {
	t.Helper()
	opts.Dir, opts.Frequency = t.TempDir(), 999
	_, err := StartPerf(t.Context(), opts)
	var refused *failure.RefusedError
	if !errors.As(err, &refused) || refused.Reason != reason || !strings.Contains(err.Error(), message) ||
		refused.Stderr == "" {
		t.Errorf("%v: got %v (%+v), want %s", sampler.Specs(opts.Events), err, refused, message)
	}
	if files, _ := os.ReadDir(opts.Dir); len(files) > 0 {
		t.Errorf("%v: left %v", sampler.Specs(opts.Events), files)
	}
	noneLeft(t, opts.Dir)
}

func TestPerfRefusesEvent(t *testing.T) {
	gasmtest.NeedPerf(t)
	pid := collecttest.Hold(t, collecttest.Busy).PID()
	check := func(reason failure.Reason, message string, specs ...string) {
		t.Helper()
		refusedFor(t, Options{PID: pid, Events: eventsOf(specs...)}, reason, message)
	}
	check(failure.ReasonUnknownEvent, "perf: there is no event nosuchevent; `perf list` names what there is",
		"nosuchevent")
	check(failure.ReasonUnknownEvent, "there is no event nosuchevent:u;", "cpu-clock", "nosuchevent:u", "page-faults")
	check(failure.ReasonUnknownEvent, "there is no event cpu-clock:q;", "cpu-clock", "page-faults:u", "cpu-clock:q",
		"page-faults")
	check(failure.ReasonUnknownEvent, "there is no event cpu/foo/;", "cpu/foo/")
	// msr/tsc/ counts only for the whole machine. On a machine without the PMU msr, the event is unknown.
	if _, err := os.Stat("/sys/bus/event_source/devices/msr"); err == nil {
		check(failure.ReasonUnsupportedEvent, "this machine can't sample msr/tsc/ (", "msr/tsc/")
	}
}

// TestPerfRefusesTracepoint samples a tracepoint. Its name is looked up in a folder that only root may read.
func TestPerfRefusesTracepoint(t *testing.T) {
	gasmtest.NeedPerf(t)
	gasmtest.NeedRoot(t)
	refusedFor(t, Options{PID: collecttest.Hold(t, collecttest.Busy).PID(), Events: eventsOf("cpu-clock", "sched:nosuch")},
		failure.ReasonUnknownEvent, "there is no event sched:nosuch;")
}

// TestPerfRefusesCounter checks that an event that the machine can't count is refused, alone and in a list. perf 7
// itself would leave the event out and sample the rest of the list.
func TestPerfRefusesCounter(t *testing.T) {
	gasmtest.NeedPerf(t)
	if exec.Command("perf", "record", "-e", "cache-misses:u", "-o", "/dev/null", "true").Run() == nil {
		t.Skip("this machine counts cache-misses: a virtual machine without a PMU would refuse them")
	}
	pid := collecttest.Hold(t, collecttest.Busy).PID()
	refusedFor(t, Options{PID: pid, Events: eventsOf("cache-misses:u")},
		failure.ReasonUnsupportedEvent,
		"this machine can't sample cache-misses:u (The cache-misses:u event is not supported); `perf list`")
	refusedFor(t, Options{PID: pid, Events: eventsOf("cpu-clock:u", "cache-misses:u")},
		failure.ReasonUnsupportedEvent,
		"this machine can't sample cpu-clock:u,cache-misses:u (The cache-misses:u event is not supported); `perf list`")
}

func TestPerfTargetGone(t *testing.T) {
	gasmtest.NeedPerf(t)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	pid := gone.Process.Pid
	refusedFor(t, Options{PID: pid}, failure.ReasonTargetGone, fmt.Sprintf("perf: process %d has ended", pid))
}

func TestPerfNoFolder(t *testing.T) {
	gasmtest.NeedPerf(t)
	_, err := StartPerf(t.Context(), Options{PID: os.Getpid(), Events: eventsOf("cpu-clock:u"), Frequency: 99,
		Dir: "/nonexistent"})
	if err == nil || !strings.Contains(err.Error(), "-o /nonexistent/perf.data") ||
		!strings.Contains(err.Error(), "No such file or directory") {
		t.Errorf("got %v", err)
	}
}

// asNobody samples the process as the user nobody and returns what the helper printed.
func asNobody(t *testing.T, events string, pid int) string {
	t.Helper()
	dir := collecttest.NobodysDir(t)
	cmd := exec.Command("/proc/self/exe", events, strconv.Itoa(pid), dir)
	cmd.Env = append(os.Environ(), helperEnv+"=sample")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: collecttest.Nobody}
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	noneLeft(t, dir)
	return string(out)
}

// TestPerfParanoid checks what the kernel really refuses with perf_event_paranoid=2, its default.
func TestPerfParanoid(t *testing.T) {
	gasmtest.NeedPerf(t)
	gasmtest.NeedRoot(t)
	if n, ok := machine.Sysctl("kernel/perf_event_paranoid"); !ok || n != 2 {
		t.Skipf("kernel.perf_event_paranoid is %d: sudo sysctl kernel.perf_event_paranoid=2", n)
	}
	own := collecttest.HoldAs(t, collecttest.Busy, collecttest.Nobody)
	check := func(events string, pid int, want ...string) {
		t.Helper()
		got := asNobody(t, events, pid)
		for _, line := range want {
			if !strings.Contains("\n"+got, "\n"+line+"\n") {
				t.Errorf("%s: got\n%s\nwant %s", events, got, line)
			}
		}
	}
	reason := func(r failure.Reason) string { return fmt.Sprintf("reason %d", r) }
	const kernelMend = "kernel.perf_event_paranoid is 2 and the user not root; sudo sysctl kernel.perf_event_paranoid=1"
	check("cpu-clock:k", own.PID(), reason(failure.ReasonParanoid), "error perf: cpu-clock:k is refused: "+kernelMend)
	check("cpu-clock:u,page-faults:k", own.PID(), reason(failure.ReasonParanoid),
		"error perf: cpu-clock:u,page-faults:k is refused: "+kernelMend)
	check("sched:sched_switch", own.PID(), reason(failure.ReasonParanoid),
		"error perf: sched:sched_switch can't be sampled: a tracepoint is for root only; sudo sysctl kernel.perf_event_paranoid=-1, or run as root")
	check("cpu-clock", collecttest.Hold(t, collecttest.Busy).PID(), reason(failure.ReasonOwner))
	check("cpu-clock", own.PID(), "events cpu-clock",
		"note kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1")
	check("cpu-clock:u", own.PID(), "events cpu-clock:u")
	if got := asNobody(t, "cpu-clock:u", own.PID()); strings.Contains(got, "note") {
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
	tool := collecttest.ToolPath(t, "perf")
	pid := collecttest.Hold(t, collecttest.Busy).PID()
	check := func(filter, cause string) {
		t.Helper()
		collecttest.FakeTool(t, "perf", fmt.Sprintf("%s=%s exec '%s' '%s' \"$@\"", helperEnv, filter, self, tool))
		cause = "the kernel blocks perf_event_open (" + cause
		refusedFor(t, Options{PID: pid}, failure.ReasonSandbox,
			"; in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined")
		refusedFor(t, Options{PID: pid, Events: eventsOf("cpu-clock")}, failure.ReasonSandbox, cause)
		refusedFor(t, Options{PID: pid, Events: eventsOf("cpu-clock", "page-faults")}, failure.ReasonSandbox, cause)
	}
	check("seccomp", "No permission to enable cpu-clock event); ")
	check("no-perf-events", "The sys_perf_event_open() syscall ")
}

// TestPerfOld runs fake old versions of perf: one before 5.9, which has no --control, and one before 4.13, which has
// no --show-lost-events.
func TestPerfOld(t *testing.T) {
	gasmtest.NeedPerf(t)
	tool := collecttest.ToolPath(t, "perf")
	collecttest.FakeTool(t, "perf", `for a; do case $a in --control|--show-lost-events)
		printf "  Error: unknown option \140%s'\n\n Usage: perf record [<options>]\n" "${a#--}" >&2; exit 129;;
		esac; done
		exec '`+tool+`' "$@"`)
	x := collecttest.Hold(t, collecttest.Busy)
	dir := t.TempDir()
	began := time.Now()
	p := start(t, Options{PID: x.PID(), Events: eventsOf("cpu-clock"), Dir: dir})
	t.Logf("start took %v", time.Since(began))
	x.Release(t)
	x.Works(t)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if n := byPID(recorded(t, p)); n[x.PID()] < 10 {
		t.Errorf("samples by pid: %v", n)
	}
	noneLeft(t, dir)

	_, err := StartPerf(t.Context(), Options{PID: x.PID(), Events: eventsOf("nosuchevent"), Frequency: 99, Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "no event nosuchevent") {
		t.Errorf("got %v", err)
	}
}

// TestPerfNoCycles runs a fake perf that reports that cycles are not supported, and does not use a clock instead.
func TestPerfNoCycles(t *testing.T) {
	gasmtest.NeedPerf(t)
	cyclesCounted(t)
	tool := collecttest.ToolPath(t, "perf")
	collecttest.FakeTool(t, "perf", `for a; do case $a in cycles*)
		printf 'Error:\nThe %s event is not supported.\n' "$a" >&2; exit 255;;
		esac; done
		exec '`+tool+`' "$@"`)
	pid := collecttest.Hold(t, collecttest.Busy).PID()
	p := start(t, Options{PID: pid})
	if notes := p.Notes(); specsOf(p) != "cpu-clock" || len(notes) < 1 ||
		!strings.HasPrefix(notes[0].Text, "no cycles counter (qemu: pmu=on), so cpu-clock") {
		t.Errorf("events %s, notes %q", specsOf(p), notes)
	}
	refusedFor(t, Options{PID: pid, Events: eventsOf("cycles:u")}, failure.ReasonUnsupportedEvent, "can't sample cycles:u")
}

// TestPerfHangs checks that if perf hangs, it is killed together with its children.
func TestPerfHangs(t *testing.T) {
	collecttest.FakeTool(t, "perf", `sleep 1000 & wait`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	dir := t.TempDir()
	_, err := StartPerf(ctx, Options{PID: os.Getpid(), Frequency: 99, Dir: dir})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	noneLeft(t, dir)
}
