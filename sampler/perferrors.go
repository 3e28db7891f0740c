package sampler

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A host is what the machine says about who may sample.
type host struct {
	user     int // effective user id
	paranoid int // kernel.perf_event_paranoid; 2, the kernel's default, if unknown
	kernel   string
	distro   string // /etc/os-release
}

func thisHost() host {
	h := host{user: os.Geteuid(), paranoid: 2}
	if n, ok := sysctlInt("kernel/perf_event_paranoid"); ok {
		h.paranoid = n
	}
	h.kernel = readTrimmed("/proc/sys/kernel/osrelease")
	h.distro = readTrimmed("/etc/os-release")
	return h
}

// owns tells whether the process is of the user; true when that can't be told.
func (h host) owns(pid int) bool {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == h.user
}

// missingPerf is the error for a machine without perf, or without the perf of
// its kernel.
func (h host) missingPerf(cause string) *MissingToolError {
	return &MissingToolError{Tool: "perf", Cause: cause, Hint: "install it: " + h.installPerf()}
}

// distroIDs are ID and then the words of ID_LIKE of /etc/os-release.
func (h host) distroIDs() (ids []string) {
	for line := range strings.Lines(h.distro) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.Trim(value, `"'`)
		switch key {
		case "ID":
			ids = append([]string{value}, ids...)
		case "ID_LIKE":
			ids = append(ids, strings.Fields(value)...)
		}
	}
	return ids
}

// installPerf returns the command that installs perf.
func (h host) installPerf() string {
	for _, id := range h.distroIDs() {
		switch id {
		case "ubuntu":
			return "sudo apt install linux-tools-common linux-tools-" + h.kernel
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

// Which lines tell what, over the versions of perf.
var (
	// Ubuntu's /usr/bin/perf is a script that runs the perf of the kernel.
	wrapperWords = []string{"perf not found for kernel"}
	goneWords    = []string{"No such process"}
	syntaxWords  = []string{"event syntax error", "invalid or unsupported event", "unknown event"}
	// The line after "event syntax error" that says why it is one.
	accessWords = []string{"can't access trace events", "No permissions to read"}
	limitWords  = []string{"Permission error mapping pages", "failed to mmap", "Too many events are opened", "Too many open files"}
	// EPERM, and a kernel without perf events.
	blockedWords = []string{"No permission to enable", "(Operation not permitted)", "(Function not implemented)"}
	// EACCES, old and new.
	deniedWords      = []string{"perf_event_paranoid", "may not have permission"}
	unsupportedWords = []string{
		"event is not supported", "PMU Hardware doesn't support", "PMU counters are busy",
		"No such file or directory) for event", "No such device) for event", "Invalid argument) for event",
		"Operation not supported) for event", "Not supported) for event", "No hardware sampling interrupt available",
	}
)

// refusal turns what perf printed before it sampled into an error. It is nil
// when the text is not known.
func refusal(text string, events []string, pid int, h host) error {
	asked := strings.Join(events, ",")
	refused := func(reason Reason, line, hint, cause string, args ...any) error {
		return &RefusedError{Tool: "perf", Reason: reason, Cause: fmt.Sprintf(cause, args...), Hint: hint, Stderr: line}
	}
	const listEvents = "`perf list` names what there is"
	paranoid := fmt.Sprintf("kernel.perf_event_paranoid is %d and the user not root", h.paranoid)

	if _, ok := lineWith(text, wrapperWords...); ok {
		return h.missingPerf("no perf for the kernel " + h.kernel)
	}
	if line, ok := lineWith(text, goneWords...); ok {
		return refused(ReasonTargetGone, line, "", "process %d has ended", pid)
	}
	if line, ok := lineWith(text, accessWords...); ok {
		return refused(ReasonParanoid, line, "sudo sysctl kernel.perf_event_paranoid=-1, or run as root",
			"%s can't be sampled: a tracepoint is for root only", asked)
	}
	if line, ok := lineWith(text, syntaxWords...); ok {
		return refused(ReasonUnknownEvent, line, listEvents, "there is no event %s", faultyEvent(text, events))
	}
	if line, ok := lineWith(text, limitWords...); ok {
		hint := "sudo sysctl kernel.perf_event_mlock_kb=8192"
		if strings.Contains(line, "Too many") {
			hint = "raise the limit of open files: ulimit -n 65536"
		}
		return refused(ReasonLimit, line, hint, "a limit is too low: %s", strings.TrimRight(line, "."))
	}
	if line, ok := lineWith(text, unsupportedWords...); ok {
		return refused(ReasonUnsupportedEvent, line, listEvents, "this machine can't sample %s (%s)", asked, strings.TrimRight(line, "."))
	}

	const container = "in a container: docker run --cap-add PERFMON --security-opt seccomp=unconfined"
	if line, ok := lineWith(text, blockedWords...); ok {
		return refused(ReasonSandbox, line, container, "the kernel blocks perf_event_open (%s)", strings.TrimRight(line, "."))
	}
	line, ok := lineWith(text, deniedWords...)
	switch {
	case !ok:
		return nil
	case h.user != 0 && !h.owns(pid):
		return refused(ReasonOwner, line, "run it as that user or with sudo", "process %d belongs to another user", pid)
	case h.user != 0 && h.paranoid >= 2:
		return refused(ReasonParanoid, line, "sudo sysctl kernel.perf_event_paranoid=1", "%s is refused: %s", asked, paranoid)
	case h.user != 0 && h.paranoid >= 0 && anyTracepoint(events):
		return refused(ReasonParanoid, line, "sudo sysctl kernel.perf_event_paranoid=-1", "%s is refused: %s", asked, paranoid)
	}
	return refused(ReasonSandbox, line, container, "%s is refused by the container or by SELinux, not by kernel.perf_event_paranoid", asked)
}

// faultyEvent picks the event that a syntax error is about. perf repeats the end
// of the list and points into it, to the start of the event or of its modifiers:
//
//	event syntax error: '..nosuchevent:u,page-faults'
//	                                  \___ parser error
//
// but for a tracepoint it points to the start of the list and names a file:
//
//	Error:	File /sys/kernel/tracing/events/sched/nosuch not found.
func faultyEvent(text string, events []string) string {
	for _, event := range events {
		if system, name, ok := strings.Cut(parseEvent(event).name, ":"); ok && strings.Contains(text, "/"+system+"/"+name+" ") {
			return event
		}
	}
	asked := strings.Join(events, ",")
	const intro = "event syntax error: '"
	_, rest, ok := strings.Cut(text, intro)
	quoted, rest, ok2 := strings.Cut(rest, "'\n")
	pointer, _, ok3 := strings.Cut(rest, `\___`)
	if !ok || !ok2 || !ok3 || !strings.HasSuffix(asked, strings.TrimPrefix(quoted, "..")) {
		return asked
	}
	at := len(asked) - len(quoted) + len(pointer) - len(intro)
	for _, event := range events {
		if 0 <= at && at < len(event) {
			return event
		}
		at -= len(event) + len(",")
	}
	return asked
}

func anyTracepoint(events []string) bool {
	for _, event := range events {
		if strings.Contains(parseEvent(event).name, ":") {
			return true
		}
	}
	return false
}

// perfComplaint returns the line of perf's stderr that says what went wrong,
// "" when none does.
func perfComplaint(text string) string {
	// Best first: perf goes on after some of what it says has failed.
	for _, word := range []string{"No space left", "failed to write", "error", "Error", "failed"} {
		if line, ok := lineWith(text, word); ok && line != "Error:" {
			return line
		}
	}
	var last string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line != "Error:" && !strings.HasPrefix(line, "[ perf record:") && !strings.HasPrefix(line, "Events ") {
			last = line
		}
	}
	return last
}

func sysctlInt(name string) (int, bool) {
	n, err := strconv.Atoi(readTrimmed("/proc/sys/" + name))
	return n, err == nil
}

func readTrimmed(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
