package collect

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/gasm-profiler/gasm/sampler"
)

// missingDTrace returns the error for a machine without DTrace.
func (h host) missingDTrace(cause string) *MissingToolError {
	install, hint := h.installDTrace()
	return &MissingToolError{Tool: "dtrace", Cause: cause, Install: install, Hint: hint}
}

// installDTrace returns the command that installs DTrace 2.x, or else a hint, by the ID and ID_LIKE of /etc/os-release.
// Debian has it since 13.
func (h host) installDTrace() (install, hint string) {
	if runtime.GOOS == "darwin" {
		return "", "it is a part of macOS: /usr/sbin/dtrace"
	}
	for _, id := range h.distroIDs() {
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

// Parts of the lines in which DTrace, or sudo, says why it does not sample.
var (
	// DTrace 2 on Linux; macOS and older versions.
	notRootWords = []string{"run as root", "requires additional privileges"}
	// sudo -n.
	sudoWords = []string{"a password is required", "is not in the sudoers file", "is not allowed to execute", "may not run sudo", "no tty present", "must be run from a terminal"}
	// The script that SystemTap installs as dtrace. It makes C headers, and prints this as its usage on
	// stdout.
	systemTapWords = []string{"[-h | -G]", "-s File.d"}
	noProbeWords   = []string{"does not match any probes"}
	// The kernel has no BPF, or does not allow it.
	noKernelWords = []string{"could not enable tracing", "failed to initialize dtrace", "failed to create BPF", "failed to load BPF", "BTF", "DTrace device not available"}
)

// dtraceRefusal returns the error for what DTrace or sudo printed in place of samples. It returns nil if
// the text is not known. The frequency is 0 for a [Script].
func dtraceRefusal(text, tool string, frequency int, sudo bool, h host) error {
	refused := func(reason Reason, line, hint, cause string, args ...any) error {
		return &RefusedError{Tool: "dtrace", Reason: reason, Cause: fmt.Sprintf(cause, args...), Hint: hint, Stderr: line}
	}
	if line, ok := lineWith(text, sudoWords...); ok && sudo {
		return refused(ReasonNotRoot, line, "run 'sudo -v' first, or let this user run "+tool+" and kill without a password (visudo)",
			"sudo -n is refused (%s)", strings.TrimPrefix(line, "sudo: "))
	}
	if line, ok := lineWith(text, notRootWords...); ok {
		hint := "run gasm as root, or with --sudo"
		if h.user == 0 || sudo {
			hint = "in a container: docker run --privileged"
		}
		return refused(ReasonNotRoot, line, hint, "only root may sample with it")
	}
	if _, ok := lineWith(text, systemTapWords...); ok {
		return h.missingDTrace(tool + " is SystemTap's, which only makes headers")
	}
	if line, ok := lineWith(text, noProbeWords...); ok && frequency == 0 {
		return refused(ReasonUnknownEvent, line, "", "%s", strings.TrimPrefix(line, "dtrace: "))
	} else if ok {
		return refused(ReasonUnknownEvent, line, "take a lower --frequency, on Linux 5000 at most", "it has no probe profile-%d", frequency)
	}
	if line, ok := lineWith(text, noKernelWords...); ok {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "dtrace: "), ":")
		return refused(ReasonKernel, line, "it needs a kernel with BPF and BTF (Linux 5.10) that is not locked down, and in a container --privileged",
			"refused by the kernel (%s)", line)
	}
	return nil
}

// isNoProbe reports whether the error is that of a [Script] that names a probe which does not exist.
func isNoProbe(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Reason == ReasonUnknownEvent
}

const programEnd = "}: "

// dtraceComplaint returns the line of DTrace's stderr that says what went wrong, or "" if there is
// none. It is the last line that is not a usual one. The program that DTrace repeats in it is left out
// ("invalid probe specifier BEGIN { … } … END { … }: failed to grab process 4742").
func dtraceComplaint(text string) string {
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
