package jfr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
)

// described maps the JVM's own event types to the kinds of package event. It also says which fields of these types
// become the event's name and its arguments.
var described = map[string]struct {
	kind event.Kind
	name string // the field that has the event's name; if the type has no such field, this string itself is the name
	args []string
}{
	"jdk.GCPhasePause":       {event.GC, "name", []string{"gcId"}},
	"jdk.GCPhaseConcurrent":  {event.Concurrent, "name", []string{"gcId"}},
	"jdk.ExecuteVMOperation": {event.VMOperation, "operation", []string{"safepoint", "caller"}},
	"jdk.Compilation":        {event.Compilation, "method", nil},
	"jdk.Deoptimization": {event.Deopt, "method",
		[]string{"compileId", "lineNumber", "bci", "instruction", "reason", "action"}},
	"jdk.JavaMonitorEnter":            {event.Lock, "monitorClass", []string{"previousOwner"}},
	"jdk.JavaMonitorWait":             {event.Park, "monitorClass", []string{"notifier", "timedOut"}},
	"jdk.ThreadPark":                  {event.Park, "parkedClass", nil},
	"jdk.ThreadSleep":                 {event.Sleep, "Thread.sleep", []string{"time"}},
	"jdk.ObjectAllocationSample":      {event.Alloc, "objectClass", []string{"weight"}},
	"jdk.ObjectAllocationInNewTLAB":   {event.Alloc, "objectClass", []string{"allocationSize", "tlabSize"}},
	"jdk.ObjectAllocationOutsideTLAB": {event.Alloc, "objectClass", []string{"allocationSize"}},
	"jdk.ClassLoad":                   {event.ClassLoad, "loadedClass", nil},
	"jdk.ThreadStart":                 {event.Thread, "thread", []string{"parentThread"}},
	"jdk.ThreadEnd":                   {event.Thread, "thread", nil},
}

// Events reads the events of a recording, and converts them to event.Event. It returns events for which package event
// has a kind, and events of the program's own types. JFR has two events for each safepoint; Events joins them into one
// that lasts from the request until all threads run again.
type Events struct {
	r      *Reader
	pid    int
	anchor func(*Chunk) Anchor
	chunk  *Chunk
	at     Anchor // the anchor of chunk
	event  event.Event
	begun  map[int64]event.Event // by safepoint id: safepoints of which only one of the two events has been read so far
	stacks stacks
}

// NewEvents returns an Events that reads the recording of the JVM with the given pid. It calls anchor(chunk) for the
// Anchor of each chunk. [FindAnchor] finds an Anchor that is valid for all chunks of a recording.
func NewEvents(r *Reader, pid int, anchor func(*Chunk) Anchor) *Events {
	return &Events{r: r, pid: pid, anchor: anchor, begun: make(map[int64]event.Event)}
}

// Scan reads the next event in the order of the file. It returns false at the end of the recording, and after an I/O
// error. After an I/O error, the Reader's Err returns that error.
func (x *Events) Scan() bool {
	for x.r.Scan() {
		if x.convert(x.r.Event()) {
			return true
		}
	}
	return false
}

// Event returns the event that Scan has read. It is valid until the next Scan. Its TID is the thread's id as the JVM
// sees it. If the JVM runs in a container, the thread has a different id outside of it. The TID is 0 for a virtual
// thread.
func (x *Events) Event() *event.Event { return &x.event }

// convert converts an event of the recording to x.event. It returns false if Scan has nothing to return yet: the
// event's type is left out, or the event is the first of a safepoint's two events.
func (x *Events) convert(e *Event) bool {
	if e.chunk != x.chunk {
		x.chunk, x.at = e.chunk, x.anchor(e.chunk)
		x.stacks.next()
	}
	start, nanos := e.MonoNanos(x.at)
	x.event = event.Event{PID: x.pid, MonoNanos: start, Nanos: max(nanos, 0)}
	if t := e.Thread(); t != nil {
		x.event.TID = int(t.OSID)
		x.event.Recorder = t.Name == "JFR Periodic Tasks" || t.Name == "JFR Recorder Thread"
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
		switch d.kind {
		case event.Compilation:
			x.compilation(e)
		case event.Alloc:
			x.event.Bytes = allocated(e)
		}
	case strings.HasPrefix(name, "jdk."):
		return false
	default:
		x.event.Kind, x.event.Name = event.Own, name
		for f, v := range e.Fields() {
			if f.Name != "startTime" && f.Name != "duration" && f.Name != "eventThread" && f.Name != "stackTrace" {
				x.arg(f.Name, v)
			}
		}
	}
	at := x.stacks.stack(e.Field("stackTrace"))
	x.event.Frames, x.event.Truncated = at.frames, at.truncated
	return true
}

// allocated returns the number of bytes that an allocation event represents. For a sample, that is what the thread has
// allocated since its previous sample. For a new TLAB, it is the size of the whole TLAB, because the next objects in
// it are allocated without events. For other events, it is the size of the object.
func allocated(e *Event) int64 {
	for _, field := range []string{"weight", "tlabSize", "allocationSize"} {
		if v := e.Field(field); v.Kind() == Int {
			return max(v.Int(), 0)
		}
	}
	return 0
}

// maxBegun is the maximum number of events in Events.begun. If there are more, all of them are dropped. In an intact
// recording that does not happen, because there is only one safepoint at a time, and its two events are close together.
const maxBegun = 1 << 12

// safepoint joins the two events that report the beginning and the end of a safepoint. They may come in either order.
// It is called once for each event. The first call keeps the event and returns false. The second call sets x.event to
// the whole safepoint and returns true.
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
	x.event.Kind, x.event.Name = event.Safepoint, event.UnknownSafepoint
	x.event.WaitNanos = begin.Nanos
	x.event.Nanos = max(end.EndMonoNanos()-begin.MonoNanos, begin.Nanos)
	return true
}

// compilation sets the arguments of a compilation. The first ones are the same as those that package hslog sets. Only
// a recording has the other ones: the size of the code, the size of the inlined bytecode, and whether the compiler
// gave up.
func (x *Events) compilation(e *Event) {
	x.event.Args = []event.Arg{
		{Name: "id", Value: strconv.FormatInt(e.Field("compileId").Int(), 10)},
		{Name: "level", Value: strconv.FormatInt(e.Field("compileLevel").Int(), 10)},
	}
	if d := e.Field("method").Field("descriptor").name(); d != "" {
		x.event.Args = append(x.event.Args, event.Arg{Name: event.Descriptor, Value: d})
	}
	if e.Field("isOsr").Bool() {
		x.event.Args = append(x.event.Args, event.Arg{Name: "osr", Value: "true"})
	}
	for _, size := range []struct{ name, field string }{{"size", "codeSize"}, {"inlined", "inlinedBytes"}} {
		if n := e.Field(size.field).Int(); n > 0 {
			x.event.Args = append(x.event.Args, event.Arg{Name: size.name, Value: strconv.FormatInt(n, 10)})
		}
	}
	if v := e.Field("succeded"); v.Kind() == Bool && !v.Bool() { // JFR's spelling
		x.event.Args = append(x.event.Args, event.Arg{Name: "failed", Value: "true"})
	}
}

func (x *Events) arg(name string, v Value) {
	if text := v.label(); text != "" {
		x.event.Args = append(x.event.Args, event.Arg{Name: name, Value: text})
	}
}

// label returns the value as text. Strings are cut off after maxName bytes. For null, arrays and most structs, the
// result is "".
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
		return v.methodName()
	}
	return ""
}

// FindAnchor returns an anchor for the ticks of a recording. wallNanos and monoNanos are the same moment on the wall
// clock and on CLOCK_MONOTONIC. The wall clock in recordings of JDK 8 and 11 is not precise enough. For these,
// FindAnchor reads the whole recording, and compares the ends of safepoints in it with those in HotSpot's log. It
// calls safepointEnds to get the sorted ends in the log; without a log, that function returns nil. If exact is false,
// times may be off by up to a millisecond. If ok is false, nothing of the recording could be read.
func FindAnchor(r *Reader, wallNanos, monoNanos int64, safepointEnds func() []int64) (a Anchor, exact, ok bool) {
	var chunk *Chunk
	var clock Clock
	var ends []int64                               // ends of safepoints, in ticks
	var earliest, latest int64 = -1 << 62, 1 << 62 // bounds for the anchor's time
	for r.Scan() {
		e := r.Event()
		if e.chunk != chunk {
			chunk = e.chunk
			next := chunk.Clock.WallAnchor(wallNanos, monoNanos)
			if !ok {
				a, clock, ok = next, chunk.Clock, true
			}
			if !clock.Coarse() {
				return a, true, true
			}
			// In all chunks of a JVM, ticks count from the same moment, but the wall clock in each header is rounded
			// down to a millisecond.
			at := next.MonoNanos - chunk.Clock.Nanos(next.Ticks-a.Ticks)
			earliest, latest = max(earliest, at), min(latest, at+1_000_000)
		}
		if e.typ.Name == "jdk.SafepointEnd" {
			ends = append(ends, e.start)
		}
	}
	if !ok {
		return a, false, false
	}
	if earliest <= latest { // otherwise the wall clock was set during the recording
		a.MonoNanos = earliest + (latest-earliest)/2
	}
	slices.Sort(ends)
	if a, exact = clock.Align(a, ends, safepointEnds()); exact {
		a.MonoNanos -= logLate
	}
	return a, exact, true
}

// logLate is how much later than jdk.SafepointEnd HotSpot usually writes the end of the safepoint to its log, in ns.
// Without this correction, a program's own events in JDK 11 were late, compared with System.nanoTime: by 1.0 µs on an
// idle machine, and by 2.2 µs on a busy one.
const logLate = 1500
