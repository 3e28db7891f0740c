package sampler

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A Sample is one sample: a program counter, and the thread and the time at which a sampler saw it.
type Sample struct {
	MonoNanos int64  // time on CLOCK_MONOTONIC; -1 if the text has no time
	PID, TID  int    // NoPID if the text has none; 0 is the idle task, -1 a task that perf could not name
	Thread    string // the thread's name, of 15 bytes at most; "" if the text has none
	PC        uint64
	Event     string // the event's Name: "cycles" for "cpu_core/cycles/Pu" and "cycles:P"
	Symbol    string // the function as the sampler names it; "" if it has no name
	// Module is the base name of the mapped file ("libjvm.so"). It is "kernel" for
	// the kernel and its modules, and "" for memory without a file, such as the code
	// cache.
	Module string
	Stack  callstack.ID // the stack of the callers; 0 if the sampler did not record it for gasm
	// Caller is an address in a compiled method on this sample's stack. It is set if the method has been a caller in so
	// many samples that its code is worth copying, and otherwise 0. Only samples that are delivered during the
	// recording have it; it is not saved.
	Caller uint64
	// Chain has the callers that the text itself has. It is nil if there are none, or if the reader does not keep them.
	// It is valid until the next Scan, but its strings stay valid.
	Chain *Chain
}

// A Chain is what a sampler's text says about the callers of sampled code.
type Chain struct {
	Calls []Call // innermost first
	// Cut is true if the outermost callers are missing, because there are more than MaxCalls, or because their lines
	// could not be read.
	Cut bool
}

// A Call is a caller of the sampled code, as the sampler found it.
type Call struct {
	// PC is the address at which the execution continues when the callee returns. In a mapped file, it is the address
	// in that file.
	PC             uint64
	Symbol, Module string // as in a Sample
	// Inlined is true for a function that was inlined into the next Call.
	Inlined bool
}

// MaxCalls is the maximum number of Calls in a Chain. perf records at most 127 callers, unless
// kernel.perf_event_max_stack was raised.
const MaxCalls = 1 << 10

// Kernel reports whether the PC is in kernel space.
func (s *Sample) Kernel() bool { return s.Module == KernelModule }

// NoPID is the PID and the TID of a sample whose text has no process ids. The perf text that JMH writes has none.
const NoPID = -2

// KernelModule is the Module of kernel samples.
const KernelModule = "kernel"

// A Lost is a report of the sampler that it could not keep some samples.
type Lost struct {
	// Count is the number of lost samples that earlier lines have not reported yet. perf reports a loss twice: by
	// PERF_RECORD_LOST while it records, and for each event by PERF_RECORD_LOST_SAMPLES at the end. The second report
	// counts only as far as it exceeds the first. So the sum of all Counts is the number of lost samples.
	Count int64
}

// A SyntaxError is a line that is not in the sampler's format: a warning that was
// saved with the text, or the last line of a killed sampler, which may be cut.
type SyntaxError = lines.SyntaxError
