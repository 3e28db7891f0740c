// Package event is what else happened in a JVM while it was sampled: pauses of the garbage
// collector, safepoints, compilations.
//
// An [Event] has its times on the samples' clock, CLOCK_MONOTONIC, so that package profile
// can say which samples were taken while it lasted. The packages below this one read events
// from where the JVM tells of them:
//
//	event/hslog   HotSpot's log, as -Xlog writes it, of JDK 9 and newer
//
// Package capture gives all events of a capture (capture.Capture.ReadEvents).
package event

import (
	"cmp"
	"slices"
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
)

// An Event is something that happened in a JVM.
type Event struct {
	PID int
	TID int // the thread that told of it; 0 when unknown
	Kind
	Name string
	// It took place in [MonoNanos, MonoNanos+Nanos). Nanos is 0 where only the start is known.
	MonoNanos, Nanos int64
	// WaitNanos is how long of a Safepoint, from its start on, some threads still ran while
	// the others waited for them: the time to safepoint.
	WaitNanos int64
	Args      []Arg
}

// An Arg is something more that is known of an event: its cause, the size of the heap.
type Arg struct{ Name, Value string }

// EndMonoNanos is when the event was over.
func (e *Event) EndMonoNanos() int64 { return e.MonoNanos + e.Nanos }

// Sort sorts events by the time of their start. Of two that start at once, the longer one
// comes first, because the other lies inside of it.
func Sort(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.MonoNanos, b.MonoNanos), cmp.Compare(b.Nanos, a.Nanos))
	})
}
