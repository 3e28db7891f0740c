package wall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
)

// A Head is the beginning of a file.
type Head struct {
	PID           int
	Hertz         int   // how often per second gasm looks at each thread that may have run
	FromMonoNanos int64 // when the first look began
}

// A Thread is a thread of the JVM. If a Reader returns a second Thread with the same Number, the thread was renamed.
type Thread struct {
	Number        int    // from 1, without gaps; never reused, unlike the TID
	TID           int    // as gasm sees it
	NID           int    // in the JVM's own PID namespace
	JavaID        int64  // Thread.getId; 0 for the JVM's own threads, such as those of a collector
	BornMonoNanos int64  // when its first spell begins
	Name          string // the full name of a Java thread; for other threads, the 15 bytes that the kernel keeps
}

// An Ended says that a thread has ended. The thread's last spell ends at the same time.
type Ended struct {
	Thread    int
	MonoNanos int64
}

// A Lock is an object for which a thread waits in a spell.
type Lock struct {
	Number  int // from 1, without gaps
	Kind    LockKind
	Address uint64 // of the object, when it was read
	Class   string // of the object; "pkg.Class"
	// If the object is a java.lang.Class, Of is the class that it represents. Otherwise Of is "".
	Of string
	// Owner is the number of the thread that owned the lock; 0 if that is not known, or if no thread owned it.
	Owner int
	// Taken is the owner's stack from the frame that holds the lock outwards; 0 if it is not known.
	Taken callstack.ID
}

// A LockKind says how an object is used as a lock.
type LockKind string

// The kinds of locks.
const (
	MonitorLock  LockKind = "monitor"
	Synchronizer LockKind = "synchronizer" // the argument of LockSupport.park, called the blocker
)

// A Spell is an interval in the life of a thread: [FromMonoNanos, ToMonoNanos).
type Spell struct {
	Thread                     int
	FromMonoNanos, ToMonoNanos int64
	// Ran, Runnable and Blocked say for how many ns of the spell the thread was on a processor, waited for one, and was
	// blocked. Their sum is the length of the spell. If the state is OnProcessor, the thread was Blocked at a place
	// that is not known.
	Ran, Runnable, Blocked int64
	State                  State
	Stack                  callstack.ID // in the Reader's tree; 0 if it is not known
	Lock                   int          // 0 if there is none
	Detail                 string       // what it waited for: "read from socket 127.0.0.1:5432"; may be ""
	Virtual                int64        // the id of the virtual thread that was mounted on the thread; 0 if there was none
	// Open is true if the file does not contain the spell's end, because gasm was killed. The spell lasted at least
	// until ToMonoNanos.
	Open bool
}

// A VirtualCount says how many virtual threads there were at one time. The Virtuals with the same time have the places
// of those that were not mounted on a thread.
type VirtualCount struct {
	MonoNanos int64
	// Threads is the number of virtual threads. If it is larger than Looked, it is an estimate.
	Threads int
	// Looked is the number of threads that gasm looked at, chosen at random. It is 0 if gasm could not read the threads,
	// because a collector moved objects each time. Then there are no Virtuals of this time.
	Looked  int
	Mounted int // how many of those looked at were mounted on a thread
	Unread  int // how many of those looked at could not be read, or changed each time that they were read
	// Untracked is the number of virtual threads that are not in Threads, because the JVM has no list of them.
	Untracked int
}

// A Virtuals counts virtual threads that were not mounted on a thread.
type Virtuals struct {
	MonoNanos int64
	Count     int // an estimate, unless the VirtualCount says that all threads were looked at
	State     State
	Stack     callstack.ID
	Lock      int
}

// An End ends the recorded time. It counts the looks.
type End struct {
	ToMonoNanos int64
	Looks       int64
	Moved       int64 // looks without a stack, because the thread ran each time that gasm read the stack
	Unread      int64 // looks at a thread that could not be read
	Left        int64 // looks that were left out because they would have cost too much
	Threads     int64
	Clamped     int64 // ns by which the kernel's counters exceeded the clock
	Unrecorded  int64 // threads that were not recorded because there were too many; the largest number at once
	Reopened    int64 // threads whose files in /proc were opened for each look, because too many files were open
	Together    bool  // a BPF iterator said how often all threads had run
	Full        bool  // the recording ended here because the file had reached its largest size
}

// A State says what a thread did.
type State uint8

// The states. A blocked thread is in one of the states from Monitor to Stopped.
const (
	OnProcessor State = iota + 1
	Runnable          // each time gasm looked, it was waiting for a processor
	Monitor           // it waits to enter a monitor
	Park              // LockSupport.park, which the locks and queues of java.util.concurrent use, too
	Wait              // Object.wait
	Sleep             // Thread.sleep
	Socket            // it reads, writes, accepts, connects or polls
	File              // it reads, writes or syncs a file, or a pipe
	PageFault         // it waits for a page of its memory
	Safepoint         // it waits until a safepoint ends, or for the JVM's threads to reach one
	GC                // it waits for a garbage collection
	NativeCall        // any other system call, or a wait in native code; the detail has its name
	Stopped           // by a signal or a debugger
	Unseen            // nothing is known
)

var states = [...]string{OnProcessor: "on processor", Runnable: "runnable", Monitor: "monitor", Park: "park",
	Wait: "wait", Sleep: "sleep",
	Socket: "socket", File: "file", PageFault: "page fault", Safepoint: "safepoint", GC: "gc", NativeCall: "native",
	Stopped: "stopped", Unseen: "unseen"}

// States returns all states, in the order of their constants.
func States() (all []State) {
	for s := OnProcessor; s <= Unseen; s++ {
		all = append(all, s)
	}
	return all
}

// String returns the word that users see: "page fault".
func (s State) String() string {
	if int(s) >= len(states) || s == 0 {
		return fmt.Sprintf("state %d", uint8(s))
	}
	return states[s]
}

// ParseState returns the state with the given word.
func ParseState(word string) (State, bool) {
	i := slices.Index(states[:], word)
	return State(max(i, 0)), i > 0
}

// word returns the state's name in the file, which has hyphens in place of blanks: "page-fault".
func (s State) word() string { return strings.ReplaceAll(s.String(), " ", "-") }
