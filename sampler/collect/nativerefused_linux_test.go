package collect

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

func TestNativeRefusesEvent(t *testing.T) {
	gasmtest.NeedNative(t)
	pid := collecttest.Hold(t, collecttest.Busy).PID()
	files := openFiles(t)
	check := func(reason failure.Reason, message string, specs ...string) {
		t.Helper()
		dir := t.TempDir()
		_, err := StartNative(Options{PID: pid, Events: eventsOf(specs...), Frequency: 999, Dir: dir})
		var refused *failure.RefusedError
		if assert.ErrorAs(t, err, &refused) {
			assert.Equal(t, reason, refused.Reason)
			assert.EqualError(t, err, "native sampling: "+message)
		}
		left, _ := os.ReadDir(dir)
		assert.Empty(t, left)
		assert.Equal(t, files, openFiles(t), "open files")
	}
	check(failure.ReasonUnknownEvent, "there is no event nosuchevent; perf knows more names: --sampler perf",
		"nosuchevent")
	check(failure.ReasonUnknownEvent, "there is no event nosuchevent:u; perf knows more names: --sampler perf",
		"cpu-clock", "nosuchevent:u", "page-faults")
	check(failure.ReasonUnknownEvent, "there is no event cpu-clock:q; perf knows more names: --sampler perf",
		"cpu-clock:q")
	check(failure.ReasonUnknownEvent,
		"there is no event gpu/foo/: the kernel has no PMU gpu; perf knows more names: --sampler perf", "gpu/foo/")
	if _, err := os.Stat("/sys/bus/event_source/devices/msr"); err == nil { // for the whole machine only
		check(failure.ReasonUnsupportedEvent,
			"the kernel can't sample msr/tsc/ of a process (invalid argument); `gasm doctor` tells what it can sample",
			"msr/tsc/")
	}
	if noCyclesCounter() {
		const none = "this machine has no counter that can sample cache-misses; `gasm doctor` tells what it can sample"
		check(failure.ReasonUnsupportedEvent, none, "cache-misses")
		check(failure.ReasonUnsupportedEvent, none, "cpu-clock", "cache-misses")
	}
}

// TestNativeNoCounter checks that a clock is sampled instead of cycles if they can't be counted.
func TestNativeNoCounter(t *testing.T) {
	gasmtest.NeedNative(t)
	if !noCyclesCounter() {
		t.Skip("this machine counts cycles: a virtual machine without a PMU does not")
	}
	check := func(want string, events ...string) {
		t.Helper()
		n := startsNative(t, Options{PID: collecttest.Hold(t, collecttest.Busy).PID(), Events: eventsOf(events...)})
		require.NoError(t, n.Stop(t.Context()))
		assert.Equal(t, want, strings.Join(sampler.Specs(n.Events()), ","))
		require.NotEmpty(t, n.Notes())
		assert.Contains(t, n.Notes()[0].Text, "no cycles counter (qemu: pmu=on), so cpu-clock")
	}
	check("cpu-clock")
	check("cpu-clock:u,page-faults", "cycles:Pu", "page-faults")
}

// nativeAsNobody runs the helper as the user nobody, and returns what it printed.
func nativeAsNobody(t *testing.T, events string, pid int, more ...string) string {
	t.Helper()
	dir := collecttest.NobodysDir(t)
	cmd := exec.Command("/proc/self/exe", append([]string{events, strconv.Itoa(pid), dir}, more...)...)
	cmd.Env = append(os.Environ(), helperEnv+"=native")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: collecttest.Nobody}
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out)
}

// TestNativeParanoid checks what the kernel really refuses with perf_event_paranoid=2, its default.
func TestNativeParanoid(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedRoot(t)
	if n, ok := machine.Sysctl("kernel/perf_event_paranoid"); !ok || n != 2 {
		t.Skipf("kernel.perf_event_paranoid is %d: sudo sysctl kernel.perf_event_paranoid=2", n)
	}
	own := collecttest.HoldAs(t, collecttest.Busy, collecttest.Nobody)
	own.Release(t)
	check := func(events string, pid int, want ...string) {
		t.Helper()
		got := nativeAsNobody(t, events, pid, "attach")
		for _, line := range want {
			assert.Contains(t, "\n"+got, "\n"+line+"\n", events)
		}
	}
	reason := func(r failure.Reason) string { return fmt.Sprintf("reason %d", r) }
	const kernelMend = "kernel.perf_event_paranoid is 2 and the user not root; sudo sysctl kernel.perf_event_paranoid=1"
	check("cpu-clock:k", own.PID(), reason(failure.ReasonParanoid),
		"error native sampling: cpu-clock:k is refused: "+kernelMend)
	check("sched:sched_switch", own.PID(), reason(failure.ReasonParanoid))
	check("cpu-clock", collecttest.Hold(t, collecttest.Busy).PID(), reason(failure.ReasonOwner))
	check("cpu-clock", own.PID(), "events [cpu-clock]",
		"note kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1")
	assert.NotContains(t, nativeAsNobody(t, "cpu-clock:u", own.PID(), "attach"), "note", "asked for user space only")
}

// TestUserOnlySpecs checks how the text spells events that had to be limited to user space.
func TestUserOnlySpecs(t *testing.T) {
	for spec, want := range map[string]string{
		"cpu-clock": "cpu-clock:u", "cycles:P": "cycles:Pu", "cpu/event=0x3c/": "cpu/event=0x3c/u",
		"cpu/event=0x3c/P": "cpu/event=0x3c/Pu",
		"r1a":              "r1a:u", "sched:sched_switch": "sched:sched_switch:u",
	} {
		got := userOnly(sampler.ParseEvent(spec))
		assert.Equal(t, want, got)
		assert.True(t, sampler.ParseEvent(got).UserOnly)
		assert.Equal(t, sampler.ParseEvent(spec).Name, sampler.ParseEvent(got).Name)
	}
}

func TestEventParts(t *testing.T) {
	check := func(spec, pmu, modifiers string) {
		t.Helper()
		gotPMU, gotModifiers := around(sampler.ParseEvent(spec))
		assert.Equal(t, []string{pmu, modifiers}, []string{gotPMU, gotModifiers}, spec)
	}
	check("cycles", "", "")
	check("cycles:Pu", "", "Pu")
	check("cpu_core/cycles/", "cpu_core", "")
	check("cpu/event=0x3c,umask=0x1/u", "cpu", "u")
	check("sched:sched_switch", "", "")
	check("sched:sched_switch:u", "", "u")
	check("cpu/cpu/u", "cpu", "u")
}

// TestNativeBlocked samples under a filter of system calls, as in a container, and as on a kernel without perf
// events.
func TestNativeBlocked(t *testing.T) {
	gasmtest.NeedNative(t)
	pid := collecttest.Hold(t, collecttest.Busy).PID()
	self, err := os.Executable()
	require.NoError(t, err)
	check := func(filter string, reason failure.Reason, message string) {
		t.Helper()
		cmd := exec.Command("/proc/self/exe", "env", helperEnv+"=native", self, "cpu-clock", strconv.Itoa(pid), t.TempDir())
		cmd.Env = append(os.Environ(), helperEnv+"="+filter)
		out, _ := cmd.CombinedOutput()
		assert.Equal(t, fmt.Sprintf("reason %d\nerror native sampling: %s\n", reason, message), string(out))
	}
	check("seccomp", failure.ReasonSandbox,
		"perf_event_open is blocked, for example by a container's seccomp filter (operation not permitted); "+container)
	check("no-perf-events", failure.ReasonKernel,
		"this kernel has no perf events (CONFIG_PERF_EVENTS); in a sandbox as gVisor: run gasm outside of it")
}

// TestNativeRefusals checks refusals that do not happen on this machine.
func TestNativeRefusals(t *testing.T) {
	check := func(h machine.Host, call string, errno unix.Errno, reason failure.Reason, message string) {
		t.Helper()
		err := &perfevent.OpenError{Event: "cpu-clock", Call: call, Err: errno}
		refused := refusedNative(err, eventsOf("cpu-clock"), os.Getpid(), h)
		require.NotNil(t, refused, message)
		assert.Equal(t, reason, refused.Reason)
		assert.EqualError(t, refused, "native sampling: "+message)
	}
	const open = "perf_event_open"
	user := machine.Host{User: os.Geteuid(), Paranoid: 3}
	if user.User == 0 {
		user.User = -1
	}
	root := machine.Host{Paranoid: 2}
	if os.Geteuid() != 0 {
		check(user, open, unix.EACCES, failure.ReasonParanoid,
			"cpu-clock is refused: kernel.perf_event_paranoid is 3 and the user not root; sudo sysctl kernel.perf_event_paranoid=1")
	}
	check(root, open, unix.EACCES, failure.ReasonSandbox,
		"cpu-clock is refused by the container or by SELinux, not by kernel.perf_event_paranoid; "+container)
	check(root, open, unix.EMFILE, failure.ReasonLimit,
		"the limit of open files is too low: each CPU takes one for each event; raise the limit of open files: ulimit -n 65536")
	check(root, open, unix.ENOMEM, failure.ReasonLimit,
		"there is no memory for the kernel's buffers; raise the memory limit of the container or the cgroup")
	check(root, "mmap", unix.EPERM, failure.ReasonLimit,
		"a limit is too low: the memory that may be locked for samples (kernel.perf_event_mlock_kb); sudo sysctl kernel.perf_event_mlock_kb=8192")
	check(root, open, unix.ESRCH, failure.ReasonTargetGone, fmt.Sprintf("process %d has ended", os.Getpid()))
	assert.Nil(t, refusedNative(errors.New("another"), nil, 1, root))
}
