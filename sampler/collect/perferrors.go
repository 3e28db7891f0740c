package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// missingPerf returns the error for a machine without perf, or without a perf for its kernel.
func missingPerf(h machine.Host, cause string) *failure.MissingToolError {
	return &failure.MissingToolError{Tool: "perf", Cause: cause, Install: installPerf(h)}
}

// installPerf returns the command that installs perf on the machine. If the distribution is unknown, it returns the
// names that the package may have.
func installPerf(h machine.Host) string {
	for _, id := range h.DistroIDs() {
		switch id {
		case "ubuntu":
			return "sudo apt install linux-tools-common linux-tools-" + h.Kernel
		case "debian":
			return "sudo apt install linux-perf"
		case "fedora", "rhel", "centos":
			return "sudo dnf install perf"
		case "suse", "opensuse":
			return "sudo zypper install perf"
		case "arch":
			return "sudo pacman -S perf"
		case "alpine":
			return "sudo apk add perf"
		}
	}
	return "the package is named perf, linux-perf or linux-tools"
}

// Parts of the lines on stderr in which perf says why it can't sample, from perf 4.9 to 7.2.
var (
	// Ubuntu's /usr/bin/perf is a script that runs the perf of the kernel.
	wrapperWords = []string{"perf not found for kernel"}
	goneWords    = []string{"No such process"}
	syntaxWords  = []string{"event syntax error", "invalid or unsupported event", "unknown event"}
	// These words are in the line after "event syntax error" if the user may not look up tracepoints.
	tracepointWords = []string{"can't access trace events", "No permissions to read"}
	limitWords      = []string{"Permission error mapping pages", "failed to mmap", "Too many events are opened",
		"Too many open files"}
	// perf prints these words for EPERM, and for ENOSYS from a kernel without perf events.
	blockedWords = append([]string{"No permission to enable"},
		syscallWords("Operation not permitted", "Function not implemented")...)
	// perf prints these words for EACCES.
	deniedWords      = []string{"perf_event_paranoid", "may not have permission"}
	unsupportedWords = append([]string{
		"event is not supported", "PMU Hardware doesn't support", "PMU counters are busy",
		"No hardware sampling interrupt available",
		// Two texts for the same error: events such as msr/tsc/ can only be counted for the whole machine.
		"in per-thread mode", "clockid feature not supported",
	}, syscallWords("No such file or directory", "No such device", "Invalid argument", "Operation not supported",
		"Not supported")...)
)

// syscallWords returns the parts that identify an error of perf_event_open in perf's message. There are two forms:
//
//	The sys_perf_event_open() syscall returned with 38 (Function not implemented) for event (cycles).
//	The sys_perf_event_open() syscall failed for event (cycles): Function not implemented
//
// The second form is from perf 7.
func syscallWords(errors ...string) (words []string) {
	for _, e := range errors {
		words = append(words, "("+e+") for event", "): "+e)
	}
	return words
}

const (
	listEvents = "`perf list` names what there is"
	container  = "in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined"
)

func refusedPerf(reason failure.Reason, line, hint, cause string, args ...any) error {
	return &failure.RefusedError{Tool: "perf", Reason: reason, Cause: fmt.Sprintf(cause, args...), Hint: hint,
		Stderr: line}
}

// refusal converts what perf printed on stderr to an error, if perf ended before it sampled. It returns nil if the text
// has none of the lines that gasm knows.
func refusal(text string, events []sampler.Event, pid int, h machine.Host) error {
	asked := strings.Join(sampler.Specs(events), ",")
	if _, ok := failure.LineWith(text, wrapperWords...); ok {
		return missingPerf(h, "no perf for the kernel "+h.Kernel)
	}
	if line, ok := failure.LineWith(text, goneWords...); ok {
		return refusedPerf(failure.ReasonTargetGone, line, "", "process %d has ended", pid)
	}
	if line, ok := failure.LineWith(text, tracepointWords...); ok {
		return refusedPerf(failure.ReasonParanoid, line, "sudo sysctl kernel.perf_event_paranoid=-1, or run as root",
			"%s can't be sampled: a tracepoint is for root only", asked)
	}
	if line, ok := failure.LineWith(text, syntaxWords...); ok {
		return refusedPerf(failure.ReasonUnknownEvent, line, listEvents, "there is no event %s", faultyEvent(text, events))
	}
	if line, ok := failure.LineWith(text, limitWords...); ok {
		hint := "sudo sysctl kernel.perf_event_mlock_kb=8192"
		if strings.Contains(line, "Too many") {
			hint = "raise the limit of open files: ulimit -n 65536"
		}
		return refusedPerf(failure.ReasonLimit, line, hint, "a limit is too low: %s", strings.TrimRight(line, "."))
	}
	if line, ok := failure.LineWith(text, unsupportedWords...); ok {
		return refusedPerf(failure.ReasonUnsupportedEvent, line, listEvents, "this machine can't sample %s (%s)", asked,
			strings.TrimRight(line, "."))
	}
	if line, ok := failure.LineWith(text, blockedWords...); ok {
		return refusedPerf(failure.ReasonSandbox, line, container, "the kernel blocks perf_event_open (%s)",
			strings.TrimRight(line, "."))
	}
	if line, ok := failure.LineWith(text, deniedWords...); ok {
		return denial(line, events, pid, h)
	}
	return nil
}

// denial returns the error for EACCES. It finds out which of three causes applies: the process belongs to another user,
// kernel.perf_event_paranoid forbids the sampling, or something else does, such as a container.
func denial(line string, events []sampler.Event, pid int, h machine.Host) error {
	asked := strings.Join(sampler.Specs(events), ",")
	const paranoid = "%s is refused: kernel.perf_event_paranoid is %d and the user not root"
	switch {
	case h.User != 0 && !h.Owns(pid):
		return refusedPerf(failure.ReasonOwner, line, "run it as that user or with sudo",
			"process %d belongs to another user", pid)
	case h.User != 0 && h.Paranoid >= 2:
		return refusedPerf(failure.ReasonParanoid, line, "sudo sysctl kernel.perf_event_paranoid=1", paranoid, asked,
			h.Paranoid)
	case h.User != 0 && h.Paranoid >= 0 && slices.ContainsFunc(events, isTracepoint):
		return refusedPerf(failure.ReasonParanoid, line, "sudo sysctl kernel.perf_event_paranoid=-1", paranoid, asked,
			h.Paranoid)
	}
	return refusedPerf(failure.ReasonSandbox, line, container,
		"%s is refused by the container or by SELinux, not by kernel.perf_event_paranoid", asked)
}

// isTracepoint reports whether the event is one of the kernel's tracepoints ("sched:sched_switch"), which only root may
// sample unless kernel.perf_event_paranoid is -1.
func isTracepoint(e sampler.Event) bool { return strings.Contains(e.Name, ":") }

// faultyEvent returns the event that a syntax error is about. perf repeats the end of the list of events, and points to
// the start of the event or of its modifiers:
//
//	event syntax error: '..nosuchevent:u,page-faults'
//	                                  \___ parser error
//
// For a tracepoint it points to the start of the list and names a file:
//
//	Error:	File /sys/kernel/tracing/events/sched/nosuch not found.
func faultyEvent(text string, events []sampler.Event) string {
	for _, e := range events {
		if system, name, ok := strings.Cut(e.Name, ":"); ok && strings.Contains(text, "/"+system+"/"+name+" ") {
			return e.Spec
		}
	}
	asked := strings.Join(sampler.Specs(events), ",")
	const intro = "event syntax error: '"
	_, rest, ok := strings.Cut(text, intro)
	quoted, rest, ok2 := strings.Cut(rest, "'\n")
	pointer, _, ok3 := strings.Cut(rest, `\___`)
	if !ok || !ok2 || !ok3 || !strings.HasSuffix(asked, strings.TrimPrefix(quoted, "..")) {
		return asked
	}
	at := len(asked) - len(quoted) + len(pointer) - len(intro)
	for _, e := range events {
		if 0 <= at && at < len(e.Spec) {
			return e.Spec
		}
		at -= len(e.Spec) + len(",")
	}
	return asked
}

// usualPerfLines are beginnings of lines that perf prints on stderr whatever went wrong.
var usualPerfLines = []string{
	"[ perf record:", "Events ",
	"Failure to open ", "Failed to open /proc/schedstat", // perf 7, which prints the reason in another line
}

// perfComplaint returns the line of perf's stderr that most likely says what went wrong, or "" if there are only usual
// lines.
func perfComplaint(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		isUsual := func(start string) bool { return strings.HasPrefix(line, start) }
		if line != "" && line != "Error:" && !slices.ContainsFunc(usualPerfLines, isUsual) {
			lines = append(lines, line)
		}
	}
	// perf goes on after some failures, and then prints further messages. So the words that say most come first.
	for _, word := range []string{"No space left", "failed to write", "error", "Error", "failed"} {
		for _, line := range lines {
			if strings.Contains(line, word) {
				return line
			}
		}
	}
	if len(lines) > 0 {
		return lines[len(lines)-1]
	}
	return ""
}
