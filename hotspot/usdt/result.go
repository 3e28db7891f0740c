package usdt

import "io"

// Options say what is recorded.
type Options struct {
	// Patterns choose the probes; see [CheckPattern].
	Patterns []string
	// Text is where the text of the recorded probes is written, in the format of package
	// event/usdt.
	Text io.Writer
	// Placed is called with addresses at which the program allocates, some times a second. It is
	// called once for many allocations, and some of the addresses are not in code. It may be nil.
	Placed func(pc uint64, monoNanos int64)
	// DTrace is true if DTrace shall record the probes even if there is a better way. Sudo is true
	// if DTrace shall be run by sudo -n.
	DTrace, Sudo bool
}

// A Result is what a recorder has found.
type Result struct {
	Events, Lost int64
	// Unknown are the patterns that match no probe of this JVM.
	Unknown []string
	// Note says how the probes were recorded; "" if that was the best way.
	Note string
	// SetMonoNanos is when the probes were set, on CLOCK_MONOTONIC. It is 0 if DTrace recorded
	// them: then Note says how long it took to set the probes.
	SetMonoNanos int64
	// Err says why the text is incomplete; nil if it is complete.
	Err error
}

// A RefusedError says why the kernel does not let gasm record probes.
type RefusedError struct{ Cause, Mend string }

// Parts returns the cause and the fix, for package fix.
func (e *RefusedError) Parts() (cause, fix string) { return e.Cause, e.Mend }

func (e *RefusedError) Error() string {
	if e.Mend == "" {
		return e.Cause
	}
	return e.Cause + ": " + e.Mend
}
