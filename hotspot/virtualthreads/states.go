package virtualthreads

import (
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
)

// A State says what a virtual thread does while it is not mounted.
type State string

// The states.
const (
	Runnable State = "runnable" // it waits for a carrier thread
	Parked   State = "parked"   // LockSupport.park
	Sleeping State = "sleeping" // Thread.sleep
	Socket   State = "socket"   // it waits until a socket can be read or written
	Blocked  State = "blocked"  // it waits to enter a monitor; JDK 24 and newer
	Waiting  State = "waiting"  // Object.wait; JDK 24 and newer

	inMounted State = "mounted"
	inEnded   State = "ended"
)

// suspended is a bit in the field state of a VirtualThread that a debugger has suspended.
const suspended = 1 << 8

// stateOf returns what the number in the field state of a VirtualThread means (VirtualThread.java). The numbers have
// not changed from JDK 21 to 28. The second result is "" if there is no such number.
func stateOf(number uint32) (started bool, in State) {
	switch number &^ suspended {
	case 0: // NEW
		return false, inEnded
	case 1: // STARTED
		return false, Runnable
	case 2, 3, 5, 6, 8: // RUNNING, PARKING, PINNED, TIMED_PARKING, TIMED_PINNED
		return true, inMounted
	case 10, 12, 15, 17: // YIELDING, BLOCKING, WAITING, TIMED_WAITING
		return true, inMounted
	case 4, 7: // PARKED, TIMED_PARKED
		return true, Parked
	case 9, 11, 14: // UNPARKED, YIELDED, UNBLOCKED
		return true, Runnable
	case 13: // BLOCKED
		return true, Blocked
	case 16, 18: // WAIT, TIMED_WAIT
		return true, Waiting
	case 99: // TERMINATED
		return true, inEnded
	}
	return false, ""
}

// parkedIn returns the state of a parked thread with these frames, innermost first. A thread that sleeps or waits for a
// socket is parked, too. parkedIn recognizes such a thread by its innermost frames, up to the first one that is not in
// a class of java.lang or jdk.internal or in LockSupport.
func parkedIn(frames []callstack.Frame) State {
	for i := range frames {
		name := frames[i].Name
		switch {
		case strings.HasPrefix(name, "sun.nio.ch.Poller::"):
			return Socket
		case name == "java.lang.VirtualThread::sleepNanos", strings.HasPrefix(name, "java.lang.Thread::sleep"):
			return Sleeping
		case !strings.HasPrefix(name, "java.lang.") && !strings.HasPrefix(name, "jdk.internal.") &&
			!strings.HasPrefix(name, "java.util.concurrent.locks.LockSupport"):
			return Parked
		}
	}
	return Parked
}
