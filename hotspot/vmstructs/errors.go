package vmstructs

import "fmt"

// A Reason is why a process can't be read.
type Reason int

const (
	// Unknown is any reason without a constant of its own, such as a build of HotSpot with unknown structures.
	Unknown Reason = iota
	// Gone means that the process has ended or never existed.
	Gone
	// Refused means that the kernel does not let this process read the memory of the other process.
	Refused
	// NoJVM means that the process has not loaded libjvm.so: it is not a JVM, or a JVM that has only just started.
	NoJVM
	// OpenJ9 means that the process runs OpenJ9, a JVM other than HotSpot.
	OpenJ9
	// NativeImage means that the program was compiled by GraalVM's native-image and has no JVM.
	NativeImage
)

// An OpenError is the error of [Open]. Its text is one line that names the process, the cause and, if
// there is one, the fix.
type OpenError struct {
	PID    int
	Reason Reason
	Err    error // wraps syscall.ESRCH or fs.ErrNotExist if the process is gone
}

func (e *OpenError) Error() string { return fmt.Sprintf("process %d %v", e.PID, e.Err) }

func (e *OpenError) Unwrap() error { return e.Err }
