// Package event is what else happened in a JVM while it was sampled: pauses of the garbage
// collector, safepoints, compilations, waiting for locks, allocations, the program's own events.
//
// An [Event] has its times on the samples' clock, CLOCK_MONOTONIC, so that package profile
// can say which samples were taken while it lasted. The packages below this one read events
// from where the JVM tells of them:
//
//	event/hslog   HotSpot's log, as -Xlog writes it, of JDK 9 and newer
//	event/jfr     recordings of Java Flight Recorder
//	event/usdt    HotSpot's own probes, recorded by package hotspot/usdt
//	event/rings   what probed methods have counted
//
// Package capture gives all events of a capture (capture.Capture.ReadEvents).
package event

import (
	"cmp"
	"slices"
	"strings"
)

// A Kind says what sort of event it is. Events of one kind may have many names.
type Kind string

// The kinds of events.
const (
	// GC is a pause in which the collector has stopped all threads: "Pause Young (Normal)".
	GC Kind = "gc"
	// Concurrent is work that the collector does beside the program: "Concurrent Mark Cycle".
	Concurrent Kind = "gc-concurrent"
	// Safepoint is the time from the request that all threads stop until they run again. Its
	// name is that of the VM operation which it was for: "G1CollectForAllocation".
	Safepoint Kind = "safepoint"
	// VMOperation is work of the VM thread, in a safepoint or not.
	VMOperation Kind = "vm-operation"
	// Compilation is a compilation by a JIT compiler. HotSpot's log has only its start.
	Compilation Kind = "compile"
	// Deopt is compiled code that is left for good. It is named by the method.
	Deopt Kind = "deoptimize"
	// Lock is a thread that waits for a lock which another one has. It is named by the class
	// of the lock.
	Lock Kind = "lock"
	// Park is a thread that waits in LockSupport.park or Object.wait. It is named by the class
	// of what it waits at.
	Park Kind = "park"
	// Sleep is Thread.sleep.
	Sleep Kind = "sleep"
	// Alloc is an allocation, or a sample of many. It is named by the class; see Event.Bytes.
	Alloc Kind = "alloc"
	// ClassLoad is the loading of a class, which it is named by.
	ClassLoad Kind = "class"
	// Thread is the start or the end of a thread, which it is named by.
	Thread Kind = "thread"
	// JNI is a call of a JNI function, which it is named by.
	JNI Kind = "jni"
	// Own is an event of the program's own, by jdk.jfr.Event. It is named by its type:
	// com.acme.Request.
	Own Kind = "jfr"
	// Call is a call of a method that is probed, by which it is named.
	Call Kind = "call"
	// Held is a lock that a method has, which it is named by: of a class whose locks are probed.
	Held Kind = "held"
	// New is an allocation in a method that is probed for them, which it is named by.
	New Kind = "new"
	// Probe is any other of HotSpot's USDT probes: "hotspot:vm__init__end".
	Probe Kind = "usdt"
)

// An Event is something that happened in a JVM.
type Event struct {
	PID int
	// TID is the thread that it is of, or that told of it, as the sampler has its id; 0 when
	// unknown, and of a virtual thread.
	TID int
	Kind
	Name string
	// It took place in [MonoNanos, MonoNanos+Nanos). Nanos is 0 where only the start is known.
	MonoNanos, Nanos int64
	// WaitNanos is how long of a Safepoint, from its start on, some threads still ran while
	// the others waited for them: the time to safepoint.
	WaitNanos int64
	// Bytes is how much memory an Alloc stands for.
	Bytes int64
	// PC is the instruction in the code cache that it happened at; 0 when unknown.
	PC uint64
	// Frames are where in the program it happened, the innermost frame first; nil when
	// unknown. Events share them: they must not be changed.
	Frames []Frame
	Args   []Arg
}

// A Frame is one of a stack.
type Frame struct {
	Method string // java.util.HashMap::get
	BCI    int    // in the method's bytecode
	Line   int    // 0 when unknown
}

// An Arg is something more that is known of an event: its cause, the size of the heap.
type Arg struct{ Name, Value string }

// OfThread tells whether events of a kind are of the one thread that they have, and not of
// the whole JVM.
func (k Kind) OfThread() bool {
	switch k {
	case GC, Concurrent, Safepoint, VMOperation:
		return false
	}
	return true
}

// EndMonoNanos is when the event was over.
func (e *Event) EndMonoNanos() int64 { return e.MonoNanos + e.Nanos }

// OfRecorder tells whether an event is of Flight Recorder's own doings, which are not the program's.
func (e *Event) OfRecorder() bool {
	return slices.ContainsFunc(e.Frames, func(f Frame) bool { return strings.HasPrefix(f.Method, "jdk.jfr.internal.") })
}

// Arg gives the value of an argument; "" without one.
func (e *Event) Arg(name string) string {
	for _, a := range e.Args {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Sort sorts events by the time of their start. Of two that start at once, the longer one
// comes first, because the other lies inside of it.
func Sort(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.MonoNanos, b.MonoNanos), cmp.Compare(b.Nanos, a.Nanos))
	})
}
