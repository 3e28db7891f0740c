package collect

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// nativeTool names the sampler in errors.
const nativeTool = "native sampling"

// refusedNative converts an error of package perfevent to an error that says how to fix the problem. It returns nil if
// it does not know the cause of the error.
func refusedNative(err error, events []sampler.Event, pid int, h machine.Host) *failure.RefusedError {
	var unknown *perfevent.NameError
	var open *perfevent.OpenError
	refused := &failure.RefusedError{Tool: nativeTool}
	switch {
	case errors.As(err, &unknown):
		refused.Reason, refused.Cause, refused.Hint =
			failure.ReasonUnknownEvent, unknown.Error(), "perf knows more names: --sampler perf"
		return refused
	case errors.As(err, &open):
	case errors.Is(err, unix.EACCES): // the user may not read the folder with the tracepoints
		return denied(h, refused, events, pid)
	default:
		return nil
	}
	refused.Stderr = open.Error()
	switch open.Err {
	case unix.ESRCH:
		refused.Reason, refused.Cause = failure.ReasonTargetGone, fmt.Sprintf("process %d has ended", pid)
	case unix.EMFILE, unix.ENFILE:
		refused.Reason, refused.Cause =
			failure.ReasonLimit, "the limit of open files is too low: each CPU takes one for each event"
		refused.Hint = "raise the limit of open files: ulimit -n 65536"
	case unix.ENOMEM:
		refused.Reason, refused.Cause = failure.ReasonLimit, "there is no memory for the kernel's buffers"
		refused.Hint = "raise the memory limit of the container or the cgroup"
	case unix.ENOSYS:
		refused.Reason, refused.Cause = failure.ReasonKernel, "this kernel has no perf events (CONFIG_PERF_EVENTS)"
		refused.Hint = "in a sandbox as gVisor: run gasm outside of it"
	case unix.EACCES, unix.EPERM:
		return notAllowed(h, refused, open, events, pid)
	case unix.ENOENT, unix.ENODEV, unix.ENXIO, unix.EOPNOTSUPP:
		refused.Reason, refused.Cause =
			failure.ReasonUnsupportedEvent, "this machine has no counter that can sample "+open.Event
		refused.Hint = "`gasm doctor` tells what it can sample"
	case unix.EINVAL:
		refused.Reason, refused.Cause =
			failure.ReasonUnsupportedEvent, fmt.Sprintf("the kernel can't sample %s of a process (%v)", open.Event, open.Err)
		refused.Hint = "`gasm doctor` tells what it can sample"
	default:
		return nil
	}
	return refused
}

// notAllowed sets the reason, the cause and the hint for EPERM or EACCES. The cause is a limit, a filter of system
// calls, or the kernel's rules on who may sample what.
func notAllowed(h machine.Host, refused *failure.RefusedError, open *perfevent.OpenError, events []sampler.Event,
	pid int) *failure.RefusedError {
	switch {
	case open.Call == "mmap":
		refused.Reason, refused.Cause =
			failure.ReasonLimit, "a limit is too low: the memory that may be locked for samples (kernel.perf_event_mlock_kb)"
		refused.Hint = "sudo sysctl kernel.perf_event_mlock_kb=8192"
	case open.Err == unix.EPERM: // a filter of system calls: the kernel's own rules return EACCES
		refused.Reason, refused.Hint = failure.ReasonSandbox, container
		refused.Cause = "perf_event_open is blocked, for example by a container's seccomp filter (operation not permitted)"
	default:
		return denied(h, refused, events, pid)
	}
	return refused
}

// denied sets the reason, the cause and the hint for EACCES, which the kernel's rules cause.
func denied(h machine.Host, refused *failure.RefusedError, events []sampler.Event, pid int) *failure.RefusedError {
	var as *failure.RefusedError
	if errors.As(denial(refused.Stderr, events, pid, h), &as) {
		refused.Reason, refused.Cause, refused.Hint = as.Reason, as.Cause, as.Hint
	}
	return refused
}

// around returns the PMU before the name in an event's spec, and the modifiers after the name. For "cpu/cycles/Pu" it
// returns "cpu" and "Pu". A missing part is "".
func around(e sampler.Event) (pmu, modifiers string) {
	pmu, rest, _ := strings.Cut(e.Spec, "/")
	if after, ok := strings.CutPrefix(rest, e.Name); ok && pmu != "" {
		return pmu, strings.TrimPrefix(after, "/")
	}
	return "", strings.TrimPrefix(strings.TrimPrefix(e.Spec, e.Name), ":")
}

// userOnly returns the event's spec with perf's modifier u, which leaves the kernel out: "cycles:u".
func userOnly(e sampler.Event) string {
	if _, modifiers := around(e); modifiers == "" && !strings.HasSuffix(e.Spec, "/") {
		return e.Spec + ":u"
	}
	return e.Spec + "u"
}

// precise reports whether the event's modifiers ask for precise PCs.
func precise(e sampler.Event) bool {
	_, modifiers := around(e)
	return strings.ContainsAny(modifiers, "pP")
}
