package vmstructs

import "fmt"

// A Reason says why a process can't be read.
type Reason int

const (
	// Unknown is any other reason, such as a HotSpot of a form that is not known.
	Unknown Reason = iota
	// Gone tells that the process has ended, or that there never was one.
	Gone
	// Refused tells that the kernel does not let this process read the other's memory.
	Refused
	// NoJVM tells that the process has not loaded libjvm.so: it is no JVM, or one that has
	// only just started.
	NoJVM
	// OpenJ9 tells that it is a JVM, and not HotSpot.
	OpenJ9
	// NativeImage tells that GraalVM made a program of Java without a JVM.
	NativeImage
)

// An OpenError is why [Open] could not open a process. Its text is one line that names the
// process, the cause and the mend.
type OpenError struct {
	PID    int
	Reason Reason
	Err    error // syscall.ESRCH or fs.ErrNotExist in its chain where the process is gone
}

func (e *OpenError) Error() string { return fmt.Sprintf("process %d %v", e.PID, e.Err) }

func (e *OpenError) Unwrap() error { return e.Err }
