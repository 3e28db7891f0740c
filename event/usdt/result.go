package usdt

import "io"

// Options say what is recorded.
type Options struct {
	// Patterns are those of the probes, see [CheckPattern].
	Patterns []string
	// Text is where the text goes.
	Text io.Writer
	// Placed is told of addresses at which the program allocates, some times a second: not of
	// each allocation, and also of addresses that are no code. nil for nobody.
	Placed func(pc uint64, monoNanos int64)
	// DTrace has DTrace tell of the probes, even where another way is better; Sudo runs it by sudo -n.
	DTrace, Sudo bool
}

// A Result is what a recorder has found.
type Result struct {
	Events, Lost int64
	// Unknown are patterns that no probe of this JVM matches.
	Unknown []string
	// Note is about how it was recorded; may be "".
	Note string
	// SetMonoNanos is when the probes were set, by CLOCK_MONOTONIC; 0 where Note says how long that took.
	SetMonoNanos int64
	// Err is why the text is not whole.
	Err error
}

// A RefusedError says that the kernel lets gasm record no probes.
type RefusedError struct{ Cause, Mend string }

// Parts returns the cause and the mend, for package fix.
func (e *RefusedError) Parts() (cause, fix string) { return e.Cause, e.Mend }

func (e *RefusedError) Error() string {
	if e.Mend == "" {
		return e.Cause
	}
	return e.Cause + ": " + e.Mend
}
