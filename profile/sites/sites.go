// Package sites counts the locks that threads waited for, the other waits of threads, and the allocations, by their
// places in the program.
//
// An [event.SiteRule] says which frame of an event's stack is the place. The frames around it, its callers, are kept as
// Stacks, from which [Callers] makes a tree.
package sites

import (
	"cmp"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
)

// A Counter sums up the events of a profile by their places. The zero Counter is empty.
type Counter struct {
	locks, parks map[waitKey]*Wait
	allocs       map[allocKey]*Alloc
	stacks       int // number of Stacks of all places together
}

// Counts reports whether a Counter counts an event: a wait or an allocation of the program itself, and not of Flight
// Recorder.
func Counts(e *event.Event) bool {
	return !e.OfRecorder() && (e.Kind == event.Alloc || e.Kind == event.Lock || e.Kind == event.Park)
}

// Add counts an event for which [Counts] is true. rule chooses the frame that names the event's place. For an
// allocation, code is the code in which it happened, and pc is the address after its instruction. pc is 0 if it is
// unknown.
func (t *Counter) Add(e *event.Event, rule event.SiteRule, code jvmcode.Ref, pc uint64) {
	stack := rule.From(e)
	switch {
	case e.Kind == event.Alloc:
		t.addAllocation(e, stack, allocKey{byLine(first(stack)), e.Name, code, pc})
	case e.Kind == event.Lock || isLock(e.Name):
		t.addWait(&t.locks, e, stack)
	default:
		t.addWait(&t.parks, e, stack)
	}
}

// maxSites limits the number of lock sites, and also the number of parks and of allocation sites. Events at further
// places count only in the totals.
const maxSites = 1 << 16

// isLock reports whether a thread that parks on an object of this class is waiting for a lock of java.util.concurrent.
func isLock(class string) bool {
	return strings.HasPrefix(class, "java.util.concurrent.locks.Reentrant")
}

// first returns the innermost frame of a stack, or the zero Frame if the stack is empty.
func first(stack []event.Frame) event.Frame {
	if len(stack) == 0 {
		return event.Frame{}
	}
	return stack[0]
}

// byLine returns a frame without its bytecode index if its line is known. All events of a line are summed up together,
// because HotSpot may report a lock at the bytecode after the one that takes it.
func byLine(f event.Frame) event.Frame {
	if f.Line > 0 {
		f.BCI = 0
	}
	return f
}

func compareFrames(a, b event.Frame) int {
	return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.Line, b.Line), cmp.Compare(a.BCI, b.BCI))
}
