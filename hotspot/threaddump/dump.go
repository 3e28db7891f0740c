package threaddump

import (
	"time"

	"github.com/gasm-profiler/gasm/callstack"
)

// A Dump describes the threads of a JVM, and what each of them does.
type Dump struct {
	PID       int
	Release   int       // the feature release of the JDK
	Version   string    // "17.0.15+6-Debian-1deb12u1"; "" if it is unknown
	Time      time.Time // when the first thread was read
	Took      time.Duration
	Threads   []Thread
	Deadlocks []Deadlock
	// Moved is the number of threads that ran during each attempt to read them, so their stacks are not known.
	Moved int
	// Unsampled says why the threads that ran, or some of them, could not be sampled. It is nil if all were sampled, or
	// if no thread ran.
	Unsampled error
	// More is true if the JVM has more than the MaxThreads threads that were read.
	More bool
}

// A Thread is a thread of a JVM.
type Thread struct {
	// Name is the name of a Java thread, at most 256 chars long. For other threads, and if the name can't be read, it
	// is the name that the kernel has, which is at most 15 bytes long.
	Name string
	TID  int // the thread's id in gasm's PID namespace
	// NID is the id that the thread has in the JVM's own PID namespace, which jstack prints.
	NID  int
	CPU  time.Duration // processor time that the thread has used
	Java *JavaThread   // nil for the JVM's own threads, such as those of a collector
	// Kernel says what the kernel knows about the thread.
	Kernel Kernel
	// Virtual is the virtual thread that is mounted on this carrier thread; nil if there is none.
	Virtual *Virtual
	// Compiling is the method that a compiler thread is compiling; "" if there is none.
	Compiling string
	Frames    []Frame // innermost first
	Stack     Stack   // how much of the stack is known
}

// A JavaThread holds what only Java threads have.
type JavaThread struct {
	ID       int64  // Thread.getId
	Address  uint64 // of HotSpot's JavaThread, which jstack prints as tid
	Daemon   bool
	Priority int
	// State is the thread's state as jstack prints it: "WAITING (parking)". It is "" if it could not be read.
	State string
}

// A Virtual is a virtual thread.
type Virtual struct {
	ID   int64
	Name string // "" if it has none
}

// A Stack says how much is known about a thread's stack.
type Stack string

const (
	// Whole means that no frames are missing after the last one. If frames are missing before it, a mark stands for
	// them: a frame of a kind such as callstack.Unwalked.
	Whole Stack = "whole"
	// Partly means that frames are missing after the last one. The last one may be a mark.
	Partly Stack = "partly"
	// Sampled means that the thread ran, and that the frames are those of one moment at which it was sampled. If outer
	// frames are missing, the last frame is a mark.
	Sampled Stack = "sampled"
	// Running means that the thread runs, and was not sampled.
	Running Stack = "running"
	// Moved means that the thread ran during each attempt to read it.
	Moved Stack = "moved"
	// Unread means that the thread could not be read: it has ended, or the kernel does not allow it.
	Unread Stack = "unread"
)

// A Frame is a frame of a thread's stack.
type Frame struct {
	callstack.Frame
	Source string // the name of the source file of a Java method; "" if it is unknown
	Native bool   // it is a native Java method
	Locks  []Lock
}

// A Lock is a lock that a frame holds, or waits for.
type Lock struct {
	Kind    LockKind
	Address uint64 // address of the object
	Class   string // class of the object: "pkg.Class"
	// If the object is a java.lang.Class, Of is the name of the class that it represents. For other objects it is "".
	Of string
	// Owner is the index in Dump.Threads of the thread that has a lock for which another thread waits; -1 if it is
	// unknown.
	Owner int
}

// A LockKind says what a frame does with a lock.
type LockKind string

// The kinds of locks. Their texts are those of jstack.
const (
	Locked        LockKind = "locked"
	WaitingToLock LockKind = "waiting to lock"
	WaitingOn     LockKind = "waiting on"
	ParkingFor    LockKind = "parking to wait for"
)

// A Deadlock is a cycle of threads, as indexes in Dump.Threads. Each waits for a lock that the next one has. The last
// one waits for a lock that the first one has.
type Deadlock []int

// waits returns the lock that a thread waits for, or nil.
func (t *Thread) waits() *Lock {
	for i := range t.Frames {
		for j := range t.Frames[i].Locks {
			if l := &t.Frames[i].Locks[j]; l.Kind == WaitingToLock || l.Kind == ParkingFor {
				return l
			}
		}
	}
	return nil
}
