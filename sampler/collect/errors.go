package collect

import (
	"fmt"
	"strings"
)

// A MissingToolError says that the sampler is not on this machine.
type MissingToolError struct {
	Tool  string // "perf"
	Cause string // "not on PATH"
	Hint  string // what to install
}

func (e *MissingToolError) Error() string {
	return fmt.Sprintf("%s: %s; %s", e.Tool, e.Cause, e.Hint)
}

// A Reason is why a sampler was refused.
type Reason int

const (
	// ReasonParanoid: kernel.perf_event_paranoid, for a user who is not root.
	ReasonParanoid Reason = iota + 1
	// ReasonSandbox: the system call is blocked, most often by a container.
	ReasonSandbox
	// ReasonOwner: the process belongs to another user.
	ReasonOwner
	// ReasonLimit: a limit on memory or open files.
	ReasonLimit
	// ReasonUnknownEvent: there is no event of that name.
	ReasonUnknownEvent
	// ReasonUnsupportedEvent: this machine can't sample the event.
	ReasonUnsupportedEvent
	// ReasonTargetGone: the process to be sampled has ended.
	ReasonTargetGone
	// ReasonNotRoot: only root may sample, and sudo did not help.
	ReasonNotRoot
	// ReasonKernel: the kernel lacks what the sampler needs, or forbids it to all.
	ReasonKernel
)

// ofEvent reports whether the reason lies in the event, so that another event may work.
func (r Reason) ofEvent() bool { return r == ReasonUnknownEvent || r == ReasonUnsupportedEvent }

// A RefusedError says that the sampler is installed but may not sample.
type RefusedError struct {
	Tool   string
	Reason Reason
	Cause  string // what was refused and why
	Hint   string // the command that fixes it; "" if there is none
	Stderr string // the line of the tool's own message that says the reason
}

func (e *RefusedError) Error() string { return sentence(e.Tool, e.Cause, e.Hint) }

// A StoppedError says that the sampler ended before it was asked to. The samples
// until then are on disk and can be read, unless Err says otherwise.
type StoppedError struct {
	Tool   string
	Cause  string
	Hint   string // the command that fixes it; "" if there is none
	Stderr string // the line of the tool's own message that says the cause
	Err    error  // why the samples can't be read, or what ended the sampler; may be nil
}

func (e *StoppedError) Error() string {
	cause := "stopped too early: " + e.Cause
	if e.Err != nil {
		cause += ": " + e.Err.Error()
	}
	return sentence(e.Tool, cause, e.Hint)
}

// Unwrap returns e.Err.
func (e *StoppedError) Unwrap() error { return e.Err }

func sentence(tool, cause, hint string) string {
	if hint != "" {
		cause += "; " + hint
	}
	return tool + ": " + cause
}

// lineWith returns the first line of the text that has one of the words in it,
// without blanks around it.
func lineWith(text string, words ...string) (string, bool) {
	for line := range strings.Lines(text) {
		for _, word := range words {
			if strings.Contains(line, word) {
				return strings.TrimSpace(line), true
			}
		}
	}
	return "", false
}
