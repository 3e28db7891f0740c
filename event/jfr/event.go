package jfr

import "iter"

// An Event is an event of a recording. It is valid until the next Scan.
type Event struct {
	chunk    *Chunk
	typ      *Type
	data     []byte
	offsets  []int32 // offsets of the fields in data
	start    int64
	duration int64
}

// set makes e the event whose bytes are d. The event's size and type take the first head bytes of d, and the fields
// follow. set returns false if the fields of type t do not fit into d.
func (e *Event) set(c *Chunk, t *Type, d []byte, head int) bool {
	e.chunk, e.typ, e.data, e.offsets = c, t, d, e.offsets[:0]
	i := head
	for k := range t.Fields {
		e.offsets = append(e.offsets, int32(i))
		if i = t.Fields[k].skip(d, i); i < 0 {
			return false
		}
	}
	var next int
	e.start, next = varint(d, head)
	e.duration = 0
	if t.hasDuration() {
		e.duration, _ = varint(d, next)
	}
	return true
}

// Chunk returns the chunk that contains the event. Its Clock converts the event's ticks.
func (e *Event) Chunk() *Chunk { return e.chunk }

// Type returns the event's type. For example, the type's name is "jdk.GCPhasePause", or the name of one of the
// program's own event classes.
func (e *Event) Type() *Type { return e.typ }

// StartTicks returns the start of the event, in ticks of the chunk's [Clock].
func (e *Event) StartTicks() int64 { return e.start }

// DurationTicks returns how long the event lasted, in ticks of the chunk's [Clock]. It returns 0 for an event without a
// duration.
func (e *Event) DurationTicks() int64 { return e.duration }

// MonoNanos returns the start of the event on CLOCK_MONOTONIC, and its duration, both in nanoseconds.
func (e *Event) MonoNanos(a Anchor) (start, duration int64) {
	return e.chunk.Clock.MonoNanos(e.start, a), e.chunk.Clock.Nanos(e.duration)
}

// Field returns the value of a field, or null if the type has no field of this name.
func (e *Event) Field(name string) Value {
	if i := e.typ.index(name); i >= 0 {
		return e.at(i)
	}
	return Value{}
}

// Fields returns an iterator over all fields and their values, in the order of the type's Fields.
func (e *Event) Fields() iter.Seq2[*Field, Value] {
	return func(yield func(*Field, Value) bool) {
		for i := range e.typ.Fields {
			if !yield(&e.typ.Fields[i], e.at(i)) {
				return
			}
		}
	}
}

func (e *Event) at(i int) Value { return e.chunk.value(&e.typ.Fields[i], e.data[e.offsets[i]:]) }
