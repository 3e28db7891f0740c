package usdt

import "io"

// Options say what is recorded.
type Options struct {
	// Patterns choose the probes; see [CheckPattern].
	Patterns []string
	// Text is where the text of the recorded probes is written, in the format of package
	// event/usdt.
	Text io.Writer
	// Placed is called several times a second with addresses at which the program allocates. One call can stand for
	// many allocations. Some of the addresses are not in code. Placed may be nil.
	Placed func(pc uint64, monoNanos int64)
	// If DTrace is true, DTrace records the probes even if there is a better way. If Sudo is true,
	// DTrace is run by sudo -n.
	DTrace, Sudo bool
}

// A Result is what a recorder has found.
type Result struct {
	Events, Lost int64
	// Unknown are the patterns that match no probe of this JVM.
	Unknown []string
	// Note says how the probes were recorded; "" if that was the best way.
	Note string
	// SetMonoNanos is when the probes were set, on CLOCK_MONOTONIC. If DTrace recorded them, it is
	// 0, and Note says how long it took to set the probes.
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
