// Package event defines the events of a JVM that gasm shows beside its samples: pauses of the garbage collector,
// safepoints, compilations, waits for locks, allocations, and the program's own events.
//
// The times of an [Event] are on the samples' clock, CLOCK_MONOTONIC, so that package profile can find the samples that
// were taken during the event. The packages below this one read events from the JVM's different sources:
//
//	event/hslog   HotSpot's log of JDK 9 and newer, as -Xlog writes it
//	event/jfr     recordings of Java Flight Recorder
//	event/usdt    HotSpot's own USDT probes, recorded by package hotspot/usdt
//	event/rings   the counts that gasm's agent made in probed methods
//
// capture.Capture.ReadEvents returns all events of a capture.
package event

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Kind is the kind of an event. Events of one kind may have many different names.
type Kind string

// The kinds of events. The text in quotation marks is an example of Event.Name.
const (
	// GC is a pause in which the collector has stopped all threads: "Pause Young (Normal)".
	GC Kind = "gc"
	// Concurrent is work that the collector does while the program runs: "Concurrent Mark Cycle".
	Concurrent Kind = "gc-concurrent"
	// Safepoint begins when the JVM asks all threads to stop, and ends when they run again. Its name is the VM operation
	// for which the threads stopped, "G1CollectForAllocation", or UnknownSafepoint.
	Safepoint Kind = "safepoint"
	// VMOperation is work of the VM thread, with or without a safepoint: "G1CollectForAllocation".
	VMOperation Kind = "vm-operation"
	// Compilation is the work of a JIT compiler on one method. Its name is the method: "java.util.HashMap::get".
	// HotSpot's log has only the start of a compilation, not its end.
	Compilation Kind = "compile"
	// Inlining is the kind for a JIT compiler's decisions about which calls to inline. There are too many of them to make
	// an [Event] of each, so they have a type of their own, [Inlined].
	Inlining Kind = "inlining"
	// Deopt is a deoptimization: the JVM gives up compiled code of a method. Its name is the method.
	Deopt Kind = "deoptimize"
	// Discard is the moment from which no thread can enter some compiled code any more, because HotSpot has stopped using
	// it. Its name is the method.
	Discard Kind = "discard"
	// Lock is a thread's wait for a lock that another thread holds. Its name is the class of the lock object.
	Lock Kind = "lock"
	// Park is a thread's wait in LockSupport.park or Object.wait. Its name is the class of the object that it waits
	// for.
	Park Kind = "park"
	// Sleep is a call of Thread.sleep.
	Sleep Kind = "sleep"
	// Alloc is the allocation of one object, or a sample that represents many allocations (see Event.Bytes). Its name is
	// the class of the object.
	Alloc Kind = "alloc"
	// ClassLoad is the loading of a class. The event's name is the name of the class.
	ClassLoad Kind = "class"
	// Thread is the start or the end of a thread. The event's name is the name of the thread.
	Thread Kind = "thread"
	// JNI is a call of a JNI function. Its name is the function.
	JNI Kind = "jni"
	// Own is an event of one of the program's own types (jdk.jfr.Event). Its name is the type: "com.acme.Request".
	Own Kind = "jfr"
	// Call is a call of a probed method. Its name is the method.
	Call Kind = "call"
	// Held is the time during which a method holds a lock. Its name is the method. It is recorded only if the locks of
	// the method's class are probed.
	Held Kind = "held"
	// New is an allocation in a method whose allocations are probed. Its name is the method.
	New Kind = "new"
	// Probe is a hit of a USDT probe of HotSpot that has no kind of its own: "hotspot:vm__init__end".
	Probe Kind = "usdt"
)

// An Event is something that happened in a JVM.
type Event struct {
	PID int
	// TID is the id of the thread that the event happened to, or that reported the event. The thread's samples have the
	// same id. TID is 0 if the thread is unknown or virtual.
	TID int
	Kind
	Name string
	// The event took place in [MonoNanos, MonoNanos+Nanos). Nanos is 0 if only the start is known.
	MonoNanos, Nanos int64
	// WaitNanos is the time to safepoint, if the event is a Safepoint. During this time, some threads had not stopped
	// yet, and the others waited for them.
	WaitNanos int64
	// Bytes is the number of bytes that were allocated, if the event is an Alloc. If the Alloc represents several
	// allocations, Bytes is their sum.
	Bytes int64
	// PC is a return address in the code cache: the address after the instruction at which the event happened. PC is 0 if
	// the instruction is unknown.
	PC uint64
	// Frames is the thread's stack at the time of the event, innermost frame first; nil if unknown. Several events may
	// share a slice, so it must not be changed. If Truncated is true, the outermost frames are missing.
	Frames    []Frame
	Truncated bool
	Args      []Arg
	// Recorder is true if the thread is one of Flight Recorder's own.
	Recorder bool
}

// A Frame is a frame of a stack.
type Frame struct {
	Method string // java.util.HashMap::get
	BCI    int    // index in the method's bytecode
	Line   int    // 0 when unknown
}

// Names of arguments of Compilation events. The arguments distinguish methods that have the same name.
const (
	BytecodeSize = "bytecode"   // size of the method's bytecode in bytes; HotSpot's log has it
	Descriptor   = "descriptor" // types of the method's parameters and of its result: "(I)V"; recordings have it
)

// An Arg is further information about an event, such as its cause or the size of the heap.
type Arg struct{ Name, Value string }

// OfThread reports whether events of the kind happen to a single thread and not to the whole JVM.
func (k Kind) OfThread() bool {
	switch k {
	case GC, Concurrent, Safepoint, VMOperation:
		return false
	}
	return true
}

// EndMonoNanos returns when the event was over.
func (e *Event) EndMonoNanos() int64 { return e.MonoNanos + e.Nanos }

// Owner returns the thread that the event happened to, or 0 if it happened to the whole JVM. If the thread is unknown,
// known is false, and no sample can be attributed to the event.
func (e *Event) Owner() (tid int, known bool) {
	if !e.Kind.OfThread() {
		return 0, true
	}
	return e.TID, e.TID != 0
}

// OfRecorder reports whether the event was caused by Flight Recorder itself and not by the program. An event may have
// lost its stack, so the thread counts, too.
func (e *Event) OfRecorder() bool {
	return e.Recorder || slices.ContainsFunc(e.Frames, func(f Frame) bool { return strings.HasPrefix(f.Method, "jdk.jfr.internal.") })
}

// agentOperations are the names of VM operations that HotSpot runs because an agent asked for them.
var agentOperations = []string{"RedefineClasses", "SetNotifyJvmtiEventsMode"}

// OfTool reports whether the event was caused by Flight Recorder or an agent, such as gasm's, and not by the program.
// Examples are a wait for a lock in Flight Recorder's own code, and a safepoint or a VM operation that Flight Recorder
// or an agent asked for: "JFRSafepointClear", "RedefineClasses".
func (e *Event) OfTool() bool {
	if e.Kind == Safepoint || e.Kind == VMOperation {
		return strings.HasPrefix(e.Name, "JFR") || slices.Contains(agentOperations, e.Name)
	}
	return e.OfRecorder()
}

// Times returns the number of occurrences that the event represents. It is 1, except for an Alloc that is the sum of
// several allocations counted by USDT probes.
func (e *Event) Times() int {
	if e.Kind != Alloc {
		return 1
	}
	n, err := strconv.ParseInt(e.Arg("count"), 10, 32)
	if err != nil || n <= 0 {
		return 1
	}
	return int(n)
}

// Arg returns the value of the argument with the given name, or "" if the event has no such argument.
func (e *Event) Arg(name string) string {
	for _, a := range e.Args {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Sort sorts events by their start. If two events start at the same time, the longer one comes first, because it
// contains the other.
func Sort(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.MonoNanos, b.MonoNanos), cmp.Compare(b.Nanos, a.Nanos))
	})
}
