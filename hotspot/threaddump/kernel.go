package threaddump

// A Kernel says what the kernel knows about a thread.
type Kernel struct {
	State State
	// Call is the name of the system call that the thread is in: "futex". It is "" if the thread is in none, and
	// "system call 454" if gasm does not know the name.
	Call string
	// On says what the system call waits for: "socket 127.0.0.1:5432", "/data/log", "for a limited time". It may be "".
	On string
}

// A State is a thread's state in the kernel.
type State string

// The states, by the letters that /proc has for them (see proc(5)).
const (
	OnProcessor State = "running or runnable" // R
	Asleep      State = "sleeping"            // S
	OnDisk      State = "waiting for a disk"  // D
	Stopped     State = "stopped"             // T, t
	Ended       State = "ended"               // Z, X
	Unknown     State = "unknown"
)
