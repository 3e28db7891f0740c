package jfr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
)

// The kinds of events that HotSpot's log does not have. [Settings] knows them by the same names.
const (
	Lock      event.Kind = "lock"       // a thread waits for a lock that another one has; named by the lock's class
	Park      event.Kind = "park"       // a thread waits in LockSupport.park or Object.wait; named by the class of what it waits at
	Sleep     event.Kind = "sleep"      // Thread.sleep
	Alloc     event.Kind = "alloc"      // a sample of the allocations; named by the class
	ClassLoad event.Kind = "class"      // a class is loaded; named so
	Threads   event.Kind = "thread"     // a thread starts or ends; named so
	Deopt     event.Kind = "deoptimize" // compiled code is left for good; named by the method
	Own       event.Kind = "jfr"        // one of the program's own; named by its type: com.acme.Request
)

// described says which events of the JVM's own are of the kinds, which field names them, and what else is told of them.
var described = map[string]struct {
	kind event.Kind
	name string // a field; when it is none, the name itself
	args []string
}{
	"jdk.GCPhasePause":                {event.GC, "name", []string{"gcId"}},
	"jdk.GCPhaseConcurrent":           {event.Concurrent, "name", []string{"gcId"}},
	"jdk.ExecuteVMOperation":          {event.VMOperation, "operation", []string{"safepoint", "caller"}},
	"jdk.Compilation":                 {event.Compilation, "method", nil},
	"jdk.Deoptimization":              {Deopt, "method", []string{"compileId", "lineNumber", "bci", "instruction", "reason", "action"}},
	"jdk.JavaMonitorEnter":            {Lock, "monitorClass", []string{"previousOwner"}},
	"jdk.JavaMonitorWait":             {Park, "monitorClass", []string{"notifier", "timedOut"}},
	"jdk.ThreadPark":                  {Park, "parkedClass", nil},
	"jdk.ThreadSleep":                 {Sleep, "Thread.sleep", []string{"time"}},
	"jdk.ObjectAllocationSample":      {Alloc, "objectClass", []string{"weight"}},
	"jdk.ObjectAllocationInNewTLAB":   {Alloc, "objectClass", []string{"allocationSize", "tlabSize"}},
	"jdk.ObjectAllocationOutsideTLAB": {Alloc, "objectClass", []string{"allocationSize"}},
	"jdk.ClassLoad":                   {ClassLoad, "loadedClass", nil},
	"jdk.ThreadStart":                 {Threads, "thread", []string{"parentThread"}},
	"jdk.ThreadEnd":                   {Threads, "thread", nil},
}

// Events gives what of a recording package event has kinds for, and the program's own events. A safepoint is made of
// two of JFR's: it lasts from the request until all threads run again.
type Events struct {
	r      *Reader
	pid    int
	anchor func(*Chunk) Anchor
	chunk  *Chunk
	at     Anchor // of the chunk
	event  event.Event
	begun  map[int64]event.Event // halves of safepoints, by their id
}

// NewEvents returns the events of a recording of a JVM. The anchor of a chunk says when its ticks are; [FindAnchor] finds one
// for all chunks of a recording.
func NewEvents(r *Reader, pid int, anchor func(*Chunk) Anchor) *Events {
	return &Events{r: r, pid: pid, anchor: anchor, begun: make(map[int64]event.Event)}
}

// Scan reads the next event, in the order of the file. It returns false at the end, and when the file can't be
// read, which Err of the Reader tells.
func (x *Events) Scan() bool {
	for x.r.Scan() {
		if x.convert(x.r.Event()) {
			return true
		}
	}
	return false
}

// Event is the last event, valid until the next Scan. Its thread's id is that in the JVM's own PID namespace; 0
// for a virtual thread.
func (x *Events) Event() *event.Event { return &x.event }

// Stack is its stack trace; nil without one.
func (x *Events) Stack() *Stack { return x.r.Event().Stack() }

// convert makes the event of one of the recording. It tells whether it is one for the caller.
func (x *Events) convert(e *Event) bool {
	if e.chunk != x.chunk {
		x.chunk, x.at = e.chunk, x.anchor(e.chunk)
	}
	start, nanos := e.MonoNanos(x.at)
	x.event = event.Event{PID: x.pid, MonoNanos: start, Nanos: max(nanos, 0)}
	if t := e.Thread(); t != nil {
		x.event.TID = int(t.OSID)
	}
	name := e.typ.Name
	d, known := described[name]
	switch {
	case name == "jdk.SafepointBegin" || name == "jdk.SafepointEnd":
		return x.safepoint(name == "jdk.SafepointBegin", e.Field("safepointId").Int())
	case known:
		x.event.Kind, x.event.Name = d.kind, d.name
		if v := e.Field(d.name); v.typ != nil {
			x.event.Name = v.label()
		}
		for _, a := range d.args {
			x.arg(a, e.Field(a))
		}
		if d.kind == event.Compilation {
			x.compilation(e)
		}
	case strings.HasPrefix(name, "jdk."):
		return false
	default:
		x.event.Kind, x.event.Name = Own, name
		for f, v := range e.Fields() {
			if f.Name != "startTime" && f.Name != "duration" && f.Name != "eventThread" && f.Name != "stackTrace" {
				x.arg(f.Name, v)
			}
		}
	}
	return true
}

// maxBegun limits how many halves of safepoints are kept. One is open at a time, and the halves stand close
// together in a recording.
const maxBegun = 1 << 12

// safepoint joins the begin and the end of a safepoint, whichever comes first in the file.
func (x *Events) safepoint(begins bool, id int64) bool {
	other, ok := x.begun[id]
	if !ok {
		if len(x.begun) >= maxBegun {
			clear(x.begun)
		}
		x.begun[id] = x.event
		return false
	}
	begin, end := x.event, other
	if !begins {
		begin, end = other, x.event
	}
	delete(x.begun, id)
	x.event = begin
	x.event.Kind, x.event.Name = event.Safepoint, "safepoint"
	x.event.WaitNanos = begin.Nanos
	x.event.Nanos = max(end.EndMonoNanos()-begin.MonoNanos, begin.Nanos)
	return true
}

// compilation tells of a compilation what HotSpot's log tells.
func (x *Events) compilation(e *Event) {
	x.event.Args = []event.Arg{
		{Name: "id", Value: strconv.FormatInt(e.Field("compileId").Int(), 10)},
		{Name: "level", Value: strconv.FormatInt(e.Field("compileLevel").Int(), 10)},
	}
	if e.Field("isOsr").Bool() {
		x.event.Args = append(x.event.Args, event.Arg{Name: "osr", Value: "true"})
	}
}

func (x *Events) arg(name string, v Value) {
	if text := v.label(); text != "" {
		x.event.Args = append(x.event.Args, event.Arg{Name: name, Value: text})
	}
}

// label is a value as text, at most maxName bytes; "" for null, and for what has no text.
func (v Value) label() string {
	switch v.kind {
	case Bool:
		return strconv.FormatBool(v.Bool())
	case Int:
		switch v.Unit() {
		case TimespanTicks, TimespanNanos, TimespanMicros, TimespanMillis, TimespanSeconds:
			return strconv.FormatInt(v.Nanos(), 10) + " ns"
		}
		return strconv.FormatInt(v.Int(), 10)
	case Char:
		return string(rune(v.Int()))
	case Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case String:
		return v.name()
	case Struct:
		return v.structLabel()
	}
	return ""
}

func (v Value) structLabel() string {
	switch v.typ.Name {
	case "java.lang.Thread":
		return v.Thread().Name
	case "java.lang.Class":
		return v.class()
	case "jdk.types.Method":
		m := v.method()
		return m.Class + "::" + m.Method
	}
	return ""
}

// FindAnchor reads a recording to its end, and finds when its ticks are, given one moment on the wall clock and on CLOCK_MONOTONIC.
// For a recording of JDK 8 or 11 it also takes the times at which safepoints ended by HotSpot's log, ascending, where they are known. exact is false when the times may be up
// to a millisecond off. A recording of which nothing can be read has no anchor, and ok is false.
func FindAnchor(r *Reader, wallNanos, monoNanos int64, safepointEnds []int64) (a Anchor, exact, ok bool) {
	var chunk *Chunk
	var clock Clock
	var ends []int64                               // in ticks
	var earliest, latest int64 = -1 << 62, 1 << 62 // of the anchor's time
	for r.Scan() {
		e := r.Event()
		if e.chunk != chunk {
			chunk = e.chunk
			next := chunk.Clock.WallAnchor(wallNanos, monoNanos)
			if !ok {
				a, clock, ok = next, chunk.Clock, true
			}
			// The chunks of a JVM have the same ticks, and each one's wall clock was cut off to a millisecond.
			at := next.MonoNanos - chunk.Clock.Nanos(next.Ticks-a.Ticks)
			earliest, latest = max(earliest, at), min(latest, at+1_000_000)
		}
		if e.typ.Name == "jdk.SafepointEnd" && clock.Coarse() {
			ends = append(ends, e.start)
		}
	}
	if !ok || !clock.Coarse() {
		return a, ok, ok
	}
	if earliest <= latest { // otherwise the wall clock was set
		a.MonoNanos = earliest + (latest-earliest)/2
	}
	slices.Sort(ends)
	a, exact = clock.Align(a, ends, safepointEnds)
	return a, exact, true
}
