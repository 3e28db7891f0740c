package dtrace

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// missing returns the error for a machine without a usable DTrace. cause says what was found instead.
func missing(h machine.Host, cause string) *failure.MissingToolError {
	install, hint := installation(h)
	return &failure.MissingToolError{Tool: "dtrace", Cause: cause, Install: install, Hint: hint}
}

// installation returns the command that installs DTrace 2.x on this system. If there is no such command, it returns a
// hint on how to get DTrace. It recognises a Linux distribution by ID and ID_LIKE in /etc/os-release. Debian has DTrace
// since release 13.
func installation(h machine.Host) (install, hint string) {
	if runtime.GOOS == "darwin" {
		return "", "it is a part of macOS: /usr/sbin/dtrace"
	}
	for _, id := range h.DistroIDs() {
		switch id {
		case "ol", "fedora":
			return "sudo dnf install dtrace", ""
		case "debian", "ubuntu":
			return "", "install it, from Debian 13 or later: sudo apt install dtrace"
		case "gentoo":
			return "sudo emerge dev-debug/dtrace", ""
		}
	}
	return "", "get it from https://github.com/oracle/dtrace"
}

// Parts of the lines in which DTrace or sudo says why it can't sample.
var (
	// The first text is from DTrace 2 on Linux, the second one from macOS and older versions.
	notRootWords = []string{"run as root", "requires additional privileges"}
	// From sudo -n.
	sudoWords = []string{"a password is required", "is not in the sudoers file", "is not allowed to execute",
		"may not run sudo", "no tty present", "must be run from a terminal"}
	// SystemTap has a script named dtrace, which only generates C headers. These words are in the usage that it prints
	// on stdout.
	systemTapWords = []string{"[-h | -G]", "-s File.d"}
	noProbeWords   = []string{"does not match any probes"}
	// The kernel has no BPF, or does not allow its use.
	noKernelWords = []string{"could not enable tracing", "failed to initialize dtrace", "failed to create BPF",
		"failed to load BPF", "BTF", "DTrace device not available"}
)

// refusal converts what DTrace or sudo printed instead of samples to an error that explains it. If it does not
// recognise the text, it returns nil. frequency is 0 if DTrace was started to run a [Script].
func refusal(text, tool string, frequency int, sudo bool, h machine.Host) error {
	refused := func(reason failure.Reason, line, hint, cause string, args ...any) error {
		return &failure.RefusedError{Tool: "dtrace", Reason: reason, Cause: fmt.Sprintf(cause, args...), Hint: hint,
			Stderr: line}
	}
	if line, ok := failure.LineWith(text, sudoWords...); ok && sudo {
		return refused(failure.ReasonNotRoot, line,
			"run 'sudo -v' first, or let this user run "+tool+" and kill without a password (visudo)",
			"sudo -n is refused (%s)", strings.TrimPrefix(line, "sudo: "))
	}
	if line, ok := failure.LineWith(text, notRootWords...); ok {
		hint := "run gasm as root, or with --sudo"
		if h.User == 0 || sudo {
			hint = "in a container: docker run --privileged"
		}
		return refused(failure.ReasonNotRoot, line, hint, "only root may sample with it")
	}
	if _, ok := failure.LineWith(text, systemTapWords...); ok {
		return missing(h, tool+" is SystemTap's, which only makes headers")
	}
	if line, ok := failure.LineWith(text, noProbeWords...); ok && frequency == 0 {
		return refused(failure.ReasonUnknownEvent, line, "", "%s", strings.TrimPrefix(line, "dtrace: "))
	} else if ok {
		return refused(failure.ReasonUnknownEvent, line, "take a lower --frequency, on Linux 5000 at most",
			"it has no probe profile-%d", frequency)
	}
	if line, ok := failure.LineWith(text, noKernelWords...); ok {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "dtrace: "), ":")
		return refused(failure.ReasonKernel, line,
			"it needs a kernel with BPF and BTF (Linux 5.10) that is not locked down, and in a container --privileged",
			"refused by the kernel (%s)", line)
	}
	return nil
}

// isNoProbe reports whether an error that the function refusal has returned means that a probe does not exist.
func isNoProbe(err error) bool {
	var refused *failure.RefusedError
	return errors.As(err, &refused) && refused.Reason == failure.ReasonUnknownEvent
}

const programEnd = "}: "

// complaintIn returns the line of DTrace's stderr that says what went wrong, or "" if there is none. It is the last
// line other than the lines that DTrace prints at every start. Some lines repeat DTrace's whole program, which is left
// out: "invalid probe specifier BEGIN { … } … END { … }: failed to grab process 4742" becomes "failed to grab process
// 4742".
func complaintIn(text string) string {
	var last string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || sampler.IsDTraceHeading([]byte(line)) {
			continue
		}
		last = strings.TrimPrefix(line, "dtrace: ")
	}
	if at := strings.LastIndex(last, programEnd); strings.HasPrefix(last, "invalid probe specifier ") && at >= 0 {
		last = last[at+len(programEnd):]
	}
	return last
}
