package dtrace

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// TestRefusal checks texts that DTrace and sudo print on other machines and in other versions.
func TestRefusal(t *testing.T) {
	user, root := machine.Host{User: 1000, Distro: "ID=debian\n"}, machine.Host{Distro: "ID=debian\n"}
	check := func(h machine.Host, sudo bool, text string, reason failure.Reason, message string) {
		t.Helper()
		err := refusal(text, "/usr/sbin/dtrace", 1001, sudo, h)
		var refused *failure.RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%q: got %v, want reason %d", text, err, reason)
			return
		}
		if refused.Reason != reason || err.Error() != "dtrace: "+message ||
			!strings.Contains(text, refused.Stderr) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n got %v, reason %d\nwant dtrace: %s, reason %d", text, err, refused.Reason, message, reason)
		}
	}
	const noRoot, usual = "only root may sample with it; ", "dtrace: description 'BEGIN ' matched 4 probes\n"
	check(user, false, "dtrace: run as root for tracing and listing probes\n", failure.ReasonNotRoot,
		noRoot+"run gasm as root, or with --sudo")
	check(user, false, "dtrace: system integrity protection is on, some features will not be available\n\ndtrace: failed to initialize dtrace: DTrace requires additional privileges\n",
		failure.ReasonNotRoot, noRoot+"run gasm as root, or with --sudo")
	check(root, false, "dtrace: failed to initialize dtrace: DTrace requires additional privileges\n",
		failure.ReasonNotRoot, noRoot+"in a container: docker run --privileged")
	check(user, true, "dtrace: failed to initialize dtrace: DTrace requires additional privileges\n",
		failure.ReasonNotRoot, noRoot+"in a container: docker run --privileged")

	const allow = "; run 'sudo -v' first, or let this user run /usr/sbin/dtrace and kill without a password (visudo)"
	check(user, true, "sudo: a password is required\n", failure.ReasonNotRoot,
		"sudo -n is refused (a password is required)"+allow)
	check(user, true, "\nnobody is not in the sudoers file.  This incident will be reported.\n", failure.ReasonNotRoot,
		"sudo -n is refused (nobody is not in the sudoers file.  This incident will be reported.)"+allow)
	check(user, true, "Sorry, user u is not allowed to execute '/usr/sbin/dtrace' as root on h.\n", failure.ReasonNotRoot,
		"sudo -n is refused (Sorry, user u is not allowed to execute '/usr/sbin/dtrace' as root on h.)"+allow)

	const needs = "); it needs a kernel with BPF and BTF (Linux 5.10) that is not locked down, and in a container --privileged"
	check(root, false, usual+"dtrace: could not enable tracing: failed to create BPF map 'state':\n\tThe kernel locked-memory limit is possibly too low.  Set a\n",
		failure.ReasonKernel, "refused by the kernel (could not enable tracing: failed to create BPF map 'state'"+needs)
	check(root, false, "dtrace: invalid probe specifier BEGIN { }: probe description :::profile-1001 does not match any probes\n",
		failure.ReasonUnknownEvent, "it has no probe profile-1001; take a lower --frequency, on Linux 5000 at most")

	checkUnknown := func(text string) {
		t.Helper()
		if err := refusal(text, "/usr/sbin/dtrace", 1001, true, user); err != nil {
			t.Errorf("%q: got %v", text, err)
		}
	}
	checkUnknown("")
	checkUnknown(usual)
	checkUnknown("sudo: unable to resolve host h\n")
	checkUnknown("dtrace: the moon is full\n")
}

func TestInstallation(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("macOS has DTrace; Linux would do")
	}
	check := func(distro, want string) {
		t.Helper()
		install, hint := installation(machine.Host{Distro: distro})
		if got := install + hint; got != want {
			t.Errorf("%q: got %s, want %s", distro, got, want)
		}
	}
	const debian = "install it, from Debian 13 or later: sudo apt install dtrace"
	check("ID=debian", debian)
	check("ID=linuxmint\nID_LIKE='ubuntu debian'", debian)
	check("ID=\"ol\"\nID_LIKE=\"fedora\"", "sudo dnf install dtrace")
	check("ID=gentoo", "sudo emerge dev-debug/dtrace")
	check("ID=alpine", "get it from https://github.com/oracle/dtrace")
	check("", "get it from https://github.com/oracle/dtrace")
}

func TestComplaint(t *testing.T) {
	check := func(text, want string) {
		t.Helper()
		if got := complaintIn(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	check("", "")
	check("\n  \ndtrace: description 'BEGIN ' matched 4 probes\nCPU     ID                    FUNCTION:NAME\n", "")
	check("dtrace: system integrity protection is on, some features will not be available\n\n", "")
	check("dtrace: description 'BEGIN ' matched 4 probes\ndtrace: processing aborted: Abort due to systemic unresponsiveness\n",
		"processing aborted: Abort due to systemic unresponsiveness")
	check("sudo: a password is required", "sudo: a password is required")
	check("dtrace: invalid probe specifier BEGIN { printf(\"gasm: begin %d\\n\", timestamp); } p4742:::gc { trace(1); } END { printf(\"gasm: end\\n\"); }: failed to grab process 4742\n",
		"failed to grab process 4742")
	check("dtrace: invalid probe specifier BEGIN: it does not match\n", "invalid probe specifier BEGIN: it does not match")
}

// TestProgram checks that the program prints what a sampler.DTraceReader reads, and the marks
// that Start and Stop wait for.
func TestProgram(t *testing.T) {
	program := Program(997)
	check := func(want string) {
		t.Helper()
		if !strings.Contains(program, want) {
			t.Errorf("%s: no %s", program, want)
		}
	}
	check(`BEGIN { printf("gasm: begin`)
	check("profile-997 /")
	check(`printf("%d 0x%lx %d", pid, arg1, timestamp)`)
	check(`END { printf("gasm: end")`)
	if strings.Contains(program, "$pid") != (runtime.GOOS == "linux") ||
		strings.Contains(program, "ufunc") == (runtime.GOOS == "linux") {
		t.Errorf("on %s: %s", runtime.GOOS, program)
	}
}
