package sampler

// A Sample is one program counter that the sampler saw.
type Sample struct {
	MonoNanos int64  // CLOCK_MONOTONIC; -1 when the text has no time
	PID, TID  int    // NoPID when the text has none; 0 is the idle task, -1 one that perf could not name
	Thread    string // the thread's name, of 15 bytes at most; "" when the text has none
	PC        uint64
	// Event is the event's bare name: "cycles" for "cpu_core/cycles/Pu" and
	// "cycles:P".
	Event string
	// Symbol is the function as the sampler names it; "" when it has none.
	Symbol string
	// Module is the base name of the mapped file ("libjvm.so"), "kernel" for
	// the kernel and its modules, and "" for memory without a file, such as
	// the code cache.
	Module string
}

// Kernel tells whether the PC is in kernel space.
func (s *Sample) Kernel() bool { return s.Module == KernelModule }

// NoPID is the PID and TID of samples whose text has no process ids, as JMH's
// has.
const NoPID = -2

// KernelModule is the Module of kernel samples.
const KernelModule = "kernel"
