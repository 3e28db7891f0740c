package collect

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// TestRefusal checks texts that perf prints on other machines and in other versions.
func TestRefusal(t *testing.T) {
	user := machine.Host{User: 1000, Paranoid: 2}
	root := user
	root.User = 0
	lax := user
	lax.Paranoid = 1

	check := func(h machine.Host, events, text string, reason failure.Reason, message string) {
		t.Helper()
		// There is no process -1, so it has no owner.
		err := refusal(text, eventsIn(events), -1, h)
		var refused *failure.RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%q: got %v, want reason %d", text, err, reason)
			return
		}
		if refused.Reason != reason || !strings.Contains(err.Error(), message) ||
			!strings.Contains(text, refused.Stderr) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n got %v, reason %d\nwant %s, reason %d", text, err, refused.Reason, message, reason)
		}
	}

	// perf 4.9 prints this if kernel.perf_event_paranoid is 3, a value that exists only in Debian's kernels.
	const oldDenied = `Error:
You may not have permission to collect stats.

Consider tweaking /proc/sys/kernel/perf_event_paranoid,
which controls use of the performance events system by
unprivileged users (without CAP_SYS_ADMIN).

The current value is 3:
`
	check(user, "cycles", oldDenied, failure.ReasonParanoid,
		"cycles is refused: kernel.perf_event_paranoid is 2 and the user not root; sudo sysctl kernel.perf_event_paranoid=1")
	check(root, "cycles", oldDenied, failure.ReasonSandbox, "by the container or by SELinux")
	check(lax, "cycles", oldDenied, failure.ReasonSandbox, "by the container or by SELinux")
	check(lax, "cycles,sdt_hotspot:gc__begin", oldDenied, failure.ReasonParanoid,
		"sudo sysctl kernel.perf_event_paranoid=-1")

	check(root, "cycles", "Error:\nNo permission to enable cycles event.\n\nYou may not have permission to collect stats.\n\nConsider tweaking /proc/sys/kernel/perf_event_paranoid,\n",
		failure.ReasonSandbox, "the kernel blocks perf_event_open (No permission to enable cycles event); in a container")
	check(user, "cycles", "Error:\nThe sys_perf_event_open() syscall returned with 1 (Operation not permitted) for event (cycles).\n",
		failure.ReasonSandbox, "docker run --cap-add PERFMON")
	check(user, "cycles", "Error:\nThe sys_perf_event_open() syscall returned with 38 (Function not implemented) for event (cycles).\n/bin/dmesg may provide additional information.\n",
		failure.ReasonSandbox, "(Function not implemented)")

	// perf 7.2 prints this for each event that it leaves out.
	const left = "Error:\nFailure to open event 'cpu-clock' on PMU 'software' which will be removed.\nThe sys_perf_event_open() syscall failed for event (cpu-clock): "
	const none = "\n\"dmesg | grep -i perf\" may provide additional information.\n\nError:\nFailure to open any events for recording.\n"
	check(root, "cpu-clock", "perf_event_open(..., 0) failed unexpectedly with error 1 (Operation not permitted)\n"+left+"Function not implemented"+none,
		failure.ReasonSandbox, "the kernel blocks perf_event_open (The sys_perf_event_open() syscall failed for event (cpu-clock): Function not implemented); in a container")
	check(root, "cpu-clock", left+"Operation not permitted"+none, failure.ReasonSandbox,
		"failed for event (cpu-clock): Operation not permitted); in a container")
	check(root, "cpu-clock", left+"No such device or address"+none, failure.ReasonUnsupportedEvent,
		"this machine can't sample cpu-clock (")
	check(root, "cpu-clock", left+"No such process"+none, failure.ReasonTargetGone, "has ended")
	check(root, "cpu-clock,instructions",
		"Error:\nFailure to open event 'instructions' on PMU 'cpu' which will be removed.\nThe instructions event is not supported.\n",
		failure.ReasonUnsupportedEvent,
		"this machine can't sample cpu-clock,instructions (The instructions event is not supported); `perf list`")

	check(user, "cycles:P", "Error:\ncycles:P: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'\n",
		failure.ReasonUnsupportedEvent, "this machine can't sample cycles:P (")
	check(user, "cycles", "Error:\nThe sys_perf_event_open() syscall returned with 2 (No such file or directory) for event (cycles).\n",
		failure.ReasonUnsupportedEvent, "can't sample cycles")
	check(user, "cycles", "Error:\nThe PMU counters are busy/taken by another profiler.\nWe found oprofile daemon running, please stop it and try again.\n",
		failure.ReasonUnsupportedEvent, "busy/taken by another profiler")
	check(user, "nosuch", "invalid or unsupported event: 'nosuch'\nRun 'perf list' for a list of valid events\n",
		failure.ReasonUnknownEvent, "there is no event nosuch; `perf list`")
	check(user, "a,b", "event syntax error: 'x,y'\n                       \\___ parser error\n",
		failure.ReasonUnknownEvent, "there is no event a,b;")

	check(user, "cycles", "Permission error mapping pages.\nConsider increasing /proc/sys/kernel/perf_event_mlock_kb,\nor try again with a smaller value of -m/--mmap_pages.\n",
		failure.ReasonLimit, "sudo sysctl kernel.perf_event_mlock_kb=8192")
	check(user, "cycles", "Error:\nToo many events are opened.\nProbably the maximum number of open file descriptors has been reached.\n",
		failure.ReasonLimit, "ulimit -n 65536")
	check(user, "cycles", "Error:\nThe sys_perf_event_open() syscall returned with 3 (No such process) for event (cycles).\n",
		failure.ReasonTargetGone, "has ended")

	if err := refusal("failed to open /root/perf.data : Permission denied\nPerf session creation failed.\n", nil, 1,
		user); err != nil {
		t.Errorf("a folder that can't be written: %v", err)
	}
}

func TestMissingPerf(t *testing.T) {
	ubuntu := machine.Host{Kernel: "6.8.0-31-generic", Distro: "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n"}
	err :=
		refusal("WARNING: perf not found for kernel 6.8.0-31\n\n  You may need to install the following packages for this specific kernel:\n    linux-tools-6.8.0-31-generic\n",
			nil, 1, ubuntu)
	var missing *failure.MissingToolError
	want :=
		"perf: no perf for the kernel 6.8.0-31-generic; install it: sudo apt install linux-tools-common linux-tools-6.8.0-31-generic"
	if !errors.As(err, &missing) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	check := func(distro, want string) {
		t.Helper()
		if got := installPerf(machine.Host{Distro: distro}); got != want {
			t.Errorf("%q: got %s, want %s", distro, got, want)
		}
	}
	check("ID=debian", "sudo apt install linux-perf")
	check("ID_LIKE=\"rhel centos fedora\"\nID=\"rocky\"", "sudo dnf install perf")
	check("ID_LIKE='ubuntu debian'\nID=linuxmint", "sudo apt install linux-tools-common linux-tools-")
	check("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"", "sudo zypper install perf")
	check("ID=arch", "sudo pacman -S perf")
	check("ID=alpine", "sudo apk add perf")
	check("", "the package is named perf, linux-perf or linux-tools")

	t.Setenv("PATH", t.TempDir())
	_, err = StartPerf(t.Context(), Options{PID: os.Getpid()})
	if !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), "perf: not on PATH; install it: ") {
		t.Errorf("got %v", err)
	}
}

func TestPerfComplaint(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		if got := perfComplaint(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	check("", "")
	check("Events disabled\nEvents enabled\n[ perf record: Woken up 1 times to write data ]\n", "")
	check("Events enabled\nfailed: can't open memory sysfs data\nfailed to write perf data, error: No space left on device\n[ perf record: Woken up 1 times ]\n",
		"failed to write perf data, error: No space left on device")
	check("Error:\nThe moon is full.\n", "The moon is full.")
	check("Error:\nFailure to open event 'a' on PMU 'b' which will be removed.\nThe moon is full.\nError:\nFailure to open any events for recording.\n", "The moon is full.")
	check("[ perf record: Woken up 1 times to write data ]\nFailed to open /proc/schedstat\n", "")
	check("Error:\nfailed to open perf.data\nError: no data\n", "Error: no data")
}
