// Package failure has the errors of all samplers: why a sampler does not sample, or has stopped too
// early. Each error keeps the cause and the fix in fields, so that other packages need not search its
// text:
//
//   - a [MissingToolError] if the program is not on this machine,
//   - a [RefusedError] if it may not sample, with a [Reason] that says whether another event or another
//     sampler may work,
//   - a [StoppedError] if it ended before it was asked to.
//
// The packages of the samplers recognize what their tools print, and make these errors of it. Errors of
// perf_event_open are recognized by their numbers, those of other programs by words in their lines
// ([LineWith]).
package failure

import (
	"cmp"
	"errors"
	"strings"
	"syscall"
)

// A MissingToolError says that the sampler is not on this machine.
type MissingToolError struct {
	Tool  string // "perf"
	Cause string // "not on PATH"
	// Install is the command that installs the tool, or else the names of its package; "" where Hint says it all.
	Install string
	Hint    string // advice, where Install is ""
}

func (e *MissingToolError) Error() string { return e.Tool + ": " + e.withoutTool() }

func (e *MissingToolError) withoutTool() string {
	if e.Install != "" {
		return e.Cause + "; install it: " + e.Install
	}
	return sentence(e.Cause, e.Hint)
}

// Parts returns the cause, and what installs the tool, for package fix.
func (e *MissingToolError) Parts() (cause, fix string) { return e.Cause, cmp.Or(e.Install, e.Hint) }

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

// OfEvent reports whether the reason lies in the event, so that another event may work.
func (r Reason) OfEvent() bool { return r == ReasonUnknownEvent || r == ReasonUnsupportedEvent }

// A RefusedError says that the sampler is installed but may not sample.
type RefusedError struct {
	Tool   string
	Reason Reason
	Cause  string // what was refused and why
	Hint   string // the command that fixes it; "" if there is none
	Stderr string // the line of the tool's own message that says the reason
}

func (e *RefusedError) Error() string { return e.Tool + ": " + e.withoutTool() }

func (e *RefusedError) withoutTool() string { return sentence(e.Cause, e.Hint) }

// Parts returns the cause and the hint, for package fix.
func (e *RefusedError) Parts() (cause, fix string) { return e.Cause, e.Hint }

// A StoppedError says that the sampler ended before it was asked to. The samples
// until then are on disk and can be read, unless Err says otherwise.
type StoppedError struct {
	Tool   string
	Cause  string
	Hint   string // the command that fixes it; "" if there is none
	Stderr string // the line of the tool's own message that says the cause
	Err    error  // why the samples can't be read, or what ended the sampler; may be nil
	// DiskFull is true if the tool's own message says that the disk is full.
	DiskFull bool
}

func (e *StoppedError) Error() string { return e.Tool + ": " + e.withoutTool() }

func (e *StoppedError) withoutTool() string { return sentence(e.Parts()) }

// Parts returns the cause, with e.Err, and the hint, for package fix.
func (e *StoppedError) Parts() (cause, fix string) {
	cause = "stopped too early: " + e.Cause
	if e.Err != nil {
		cause += ": " + e.Err.Error()
	}
	return cause, e.Hint
}

// Is reports whether target is ENOSPC and the sampler's own message says that the disk is full. Another program's error
// has no number, only a text.
func (e *StoppedError) Is(target error) bool { return e.DiskFull && target == syscall.ENOSPC }

// Unwrap returns e.Err.
func (e *StoppedError) Unwrap() error { return e.Err }

func sentence(cause, hint string) string {
	if hint != "" {
		cause += "; " + hint
	}
	return cause
}

// WithoutTool returns the text of an error without the name of its sampler, for a sentence that names it.
func WithoutTool(err error) string {
	var e interface {
		error
		withoutTool() string
	}
	if errors.As(err, &e) {
		return e.withoutTool()
	}
	return err.Error()
}

// LineWith returns the first line of the text that has one of the words in it,
// without blanks around it.
func LineWith(text string, words ...string) (string, bool) {
	for line := range strings.Lines(text) {
		for _, word := range words {
			if strings.Contains(line, word) {
				return strings.TrimSpace(line), true
			}
		}
	}
	return "", false
}
