package sampler

import (
	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A Sample is one sample: a program counter, and the thread and the time at which a sampler saw it.
type Sample struct {
	MonoNanos int64  // CLOCK_MONOTONIC; -1 if the text has no time
	PID, TID  int    // NoPID if the text has none; 0 is the idle task, -1 a task that perf could not name
	Thread    string // the thread's name, of 15 bytes at most; "" if the text has none
	PC        uint64
	Event     string // the event's Name: "cycles" for "cpu_core/cycles/Pu" and "cycles:P"
	Symbol    string // the function as the sampler names it; "" if it has no name
	// Module is the base name of the mapped file ("libjvm.so"). It is "kernel" for
	// the kernel and its modules, and "" for memory without a file, such as the code
	// cache.
	Module string
	// Stack is the sample's call stack in the capture's stacks.txt; 0 if it has none.
	Stack callstack.ID
}

// Kernel reports whether the PC is in kernel space.
func (s *Sample) Kernel() bool { return s.Module == KernelModule }

// NoPID is the PID and the TID of a sample whose text has no process ids. The perf text that JMH writes has none.
const NoPID = -2

// KernelModule is the Module of kernel samples.
const KernelModule = "kernel"

// Lost is a line about samples that the sampler could not keep.
type Lost struct {
	// Count is the number of lost samples that earlier lines have not reported yet. perf reports a loss twice: by
	// PERF_RECORD_LOST while it records, and for each event by PERF_RECORD_LOST_SAMPLES at the end. The second report
	// counts only as far as it exceeds the first. So the sum of all Counts is the number of lost samples.
	Count int64
}

// A SyntaxError is a line that is not in the sampler's format: a warning that was
// saved with the text, or the last line of a killed sampler, which may be cut.
type SyntaxError = lines.SyntaxError
