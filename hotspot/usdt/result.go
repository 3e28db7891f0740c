package usdt

import "io"

// Options say what is recorded.
type Options struct {
	// Patterns choose the probes; see [CheckPattern].
	Patterns []string
	// Text receives the text.
	Text io.Writer
	// Placed is called with addresses at which the program allocates, some times a second. It is not
	// called for each allocation, and it is also called with addresses that are not code. nil calls
	// nothing.
	Placed func(pc uint64, monoNanos int64)
	// DTrace has DTrace record the probes even if there is a better way. Sudo runs it by sudo -n.
	DTrace, Sudo bool
}

// A Result is what a recorder has found.
type Result struct {
	Events, Lost int64
	// Unknown are the patterns that match no probe of this JVM.
	Unknown []string
	// Note says how the probes were recorded, if not in the best way; it may be "".
	Note string
	// SetMonoNanos is when the probes were set, on CLOCK_MONOTONIC. It is 0 if Note says how long that
	// took.
	SetMonoNanos int64
	// Err says why the text is incomplete.
	Err error
}

// A RefusedError says why the kernel does not let gasm record probes.
type RefusedError struct{ Cause, Mend string }

func (e *RefusedError) Error() string {
	if e.Mend == "" {
		return e.Cause
	}
	return e.Cause + ": " + e.Mend
}
