// Package failure has the errors of all samplers: why a sampler does not sample, or why it has stopped too early. Each
// error keeps the cause and the fix in separate fields, so that other packages need not search its text:
//
//   - a [MissingToolError] if the sampler's program is not on this machine,
//   - a [RefusedError] if the sampler may not sample; its [Reason] says whether another event or another
//     sampler may work,
//   - a [StoppedError] if the sampler ended before it was asked to.
//
// The packages of the samplers recognize the messages of their tools, and convert them to these errors. The errors of
// perf_event_open are recognized by their numbers, and those of tools by words in their messages ([LineWith]).
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
	// Install is the command that installs the tool or, if there is no such command, the possible names of its package.
	// If it is "", Hint has other advice.
	Install string
	Hint    string // other advice, if Install is ""
}

func (e *MissingToolError) Error() string { return e.Tool + ": " + e.withoutTool() }

func (e *MissingToolError) withoutTool() string {
	if e.Install != "" {
		return e.Cause + "; install it: " + e.Install
	}
	return sentence(e.Cause, e.Hint)
}

// Parts returns the cause, and how to install the tool, for package fix.
func (e *MissingToolError) Parts() (cause, fix string) { return e.Cause, cmp.Or(e.Install, e.Hint) }

// A Reason says why a sampler was refused.
type Reason int

const (
	// ReasonParanoid: kernel.perf_event_paranoid forbids sampling by users other than root.
	ReasonParanoid Reason = iota + 1
	// ReasonSandbox: the system call is blocked, in most cases by a container.
	ReasonSandbox
	// ReasonOwner: the process belongs to another user.
	ReasonOwner
	// ReasonLimit: a limit for memory or open files was reached.
	ReasonLimit
	// ReasonUnknownEvent: there is no event with that name.
	ReasonUnknownEvent
	// ReasonUnsupportedEvent: this machine can't sample the event.
	ReasonUnsupportedEvent
	// ReasonTargetGone: the process to be sampled has ended.
	ReasonTargetGone
	// ReasonNotRoot: only root may sample, and sudo did not help.
	ReasonNotRoot
	// ReasonKernel: the kernel lacks something that the sampler needs, or lets nobody sample.
	ReasonKernel
)

// OfEvent reports whether the sampler was refused because of the event. Sampling may then work with another event.
func (r Reason) OfEvent() bool { return r == ReasonUnknownEvent || r == ReasonUnsupportedEvent }

// A RefusedError says that the sampler is installed, but that it may not or can't sample here.
type RefusedError struct {
	Tool   string
	Reason Reason
	Cause  string // what was refused and why
	Hint   string // the command that fixes it; "" if there is none
	Stderr string // the line of the tool's message that has the reason
}

func (e *RefusedError) Error() string { return e.Tool + ": " + e.withoutTool() }

func (e *RefusedError) withoutTool() string { return sentence(e.Cause, e.Hint) }

// Parts returns the cause and the hint, for package fix.
func (e *RefusedError) Parts() (cause, fix string) { return e.Cause, e.Hint }

// A StoppedError says that the sampler ended before it was asked to. The samples until then are on disk and can be
// read, unless Err says that they can't be read.
type StoppedError struct {
	Tool   string
	Cause  string
	Hint   string // the command that fixes it; "" if there is none
	Stderr string // the line of the tool's message that has the cause
	Err    error  // why the samples can't be read, or what ended the sampler; may be nil
	// DiskFull is true if the tool's own message says that the disk is full.
	DiskFull bool
}

func (e *StoppedError) Error() string { return e.Tool + ": " + e.withoutTool() }

func (e *StoppedError) withoutTool() string { return sentence(e.Parts()) }

// Parts returns the cause, which includes e.Err, and the hint as the fix. Package fix calls it.
func (e *StoppedError) Parts() (cause, fix string) {
	cause = "stopped too early: " + e.Cause
	if e.Err != nil {
		cause += ": " + e.Err.Error()
	}
	return cause, e.Hint
}

// Is reports whether target is ENOSPC and e.DiskFull is set. Tools report a full disk only as text, so Err alone may
// not be ENOSPC.
func (e *StoppedError) Is(target error) bool { return e.DiskFull && target == syscall.ENOSPC }

// Unwrap returns e.Err.
func (e *StoppedError) Unwrap() error { return e.Err }

func sentence(cause, hint string) string {
	if hint != "" {
		cause += "; " + hint
	}
	return cause
}

// WithoutTool returns the text of an error without the name of the sampler, for a sentence that already names the
// sampler.
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

// LineWith returns the first line of the text that contains one of the words, without blanks around the line. It
// returns false if there is no such line.
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
