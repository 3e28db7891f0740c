package perfetto

import (
	"strconv"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/report/names"
)

// An eventStack identifies the stack of an event by the address of its first frame and the number of its frames. That
// is enough, because events with the same stack share their Frames.
type eventStack struct {
	first *event.Frame
	n     int
}

// maxEventFrames is the maximum number of frames of an event's stack that are written. Flight Recorder records 64,
// unless it is told to record more.
const maxEventFrames = 1024

// event writes an event: two packets if the event has a duration, and otherwise one.
func (b *builder) event(e *event.Event) {
	key := trackKey{e.PID, e.TID, ""}
	if tid, _ := e.Owner(); tid == 0 {
		key = trackKey{e.PID, 0, e.Kind}
	}
	t := b.trackOf(key, "")
	from, kind := max(e.MonoNanos, 0), uint64(typeInstant)
	uuid, crowded := t.uuid, false
	if e.Nanos > 0 {
		var ok bool
		if uuid, ok = b.laneFor(key, t, from, endOf(e)); ok {
			kind = typeBegin
		} else {
			crowded = true
			b.crowded++
		}
	}
	s := b.events
	s.prepare()
	body := b.body[:0]
	body.uint(eventType, kind)
	body.uint(eventTrack, uuid)
	body.uint(eventCategory, s.string(internedCategories, string(e.Kind)))
	body.uint(eventName, s.string(internedEventNames, e.Name))
	b.body = body
	b.args(e, crowded)
	if len(e.Frames) > 0 {
		b.body.uint(eventCallstack, b.eventStack(e))
	}
	s.packetAt(from, packetTrackEvent, b.body)
	if kind == typeBegin {
		body := b.body[:0]
		body.uint(eventType, typeEnd)
		body.uint(eventTrack, uuid)
		b.body = body
		s.packetAt(endOf(e), packetTrackEvent, body)
	}
}

// args appends the arguments of an event to b.body.
func (b *builder) args(e *event.Event, crowded bool) {
	if f := b.trace.Sites.Site(e); f.Method != "" {
		b.textArg("at", f.Method+":"+strconv.Itoa(f.Line))
	}
	if e.PC != 0 {
		b.arg("pc").uint(argPointer, e.PC)
		b.endArg()
	}
	if e.Bytes != 0 {
		b.intArg("bytes", e.Bytes)
	}
	if e.WaitNanos > 0 {
		b.intArg("time to safepoint (ns)", e.WaitNanos)
	}
	if crowded {
		b.intArg("duration (ns)", e.Nanos)
	}
	if e.OfTool() {
		b.textArg("caused by", "Flight Recorder or an agent, not the program")
	}
	for _, a := range e.Args {
		b.textArg(a.Name, a.Value)
	}
}

// arg begins an argument. The caller appends its value, and then calls endArg.
func (b *builder) arg(name string) *message {
	b.scratch = b.scratch[:0]
	b.scratch.uint(argName, b.events.string(internedArgNames, name))
	return &b.scratch
}

// endArg appends the argument to b.body.
func (b *builder) endArg() { b.body.message(eventArgs, b.scratch) }

func (b *builder) textArg(name, value string) {
	b.arg(name).text(argText, clean(value))
	b.endArg()
}

func (b *builder) intArg(name string, value int64) {
	b.arg(name).int(argInt, value)
	b.endArg()
}

// eventStack returns the number of an event's stack.
func (b *builder) eventStack(e *event.Event) uint64 {
	s := b.events
	return s.stack(eventStack{&e.Frames[0], len(e.Frames)}, func(ids []uint64) []uint64 {
		for i := range e.Frames[:min(len(e.Frames), maxEventFrames)] {
			f := &e.Frames[i]
			line := uint64(max(f.Line, 0))
			ids = append(ids, s.frame(frame{mapping: s.mapping("[java]"), function: s.string(internedFunctions, f.Method),
				source: b.source(s.string, f.Method), pc: line, line: line}))
		}
		if len(e.Frames) > maxEventFrames {
			mark := callstack.At(callstack.Cut, 0)
			ids = append(ids, frameID(b, s, &mark, false))
		}
		return ids
	})
}

// source returns the number that a sequence uses for the path of a method's source file. It returns 0 if the path is
// unknown. intern is the method string of that sequence. It returns the number of a text.
func (b *builder) source(intern func(table int, text string) uint64, method string) uint64 {
	path := names.SourcePath(method, b.trace.SourceFile(method))
	if path == "" {
		return 0
	}
	return intern(internedSourcePaths, path)
}
