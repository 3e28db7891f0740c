package jfr

import (
	"iter"
	"math"
)

// A Value is one of an event, and valid until the next Scan. What it holds is decoded when it is asked
// for. Asking for what it is not gives zero: the text of a number is "", a field of a string is null.
type Value struct {
	chunk *Chunk
	typ   *Type
	field *Field // which holds the value; nil for none
	raw   []byte // begins with the value
	kind  Kind
	key   int64
}

// Kind says what a Value is.
type Kind uint8

// The kinds.
const (
	Null Kind = iota // also of a field that the type does not have
	Bool
	Int // byte, short, int, long
	Char
	Float // float and double
	String
	Struct
	Array
)

// value makes the value of a field whose bytes begin raw.
func (c *Chunk) value(f *Field, raw []byte) Value {
	if f.Array {
		return Value{chunk: c, typ: f.Type, field: f, raw: raw, kind: Array}
	}
	return c.element(f, raw)
}

// maxHops limits how many keys and types lead from one to another before there is a value: a key of a
// GCName, the type GCName, and a key of its string.
const maxHops = 8

// element makes a value of a field, or of one element of it when it is an array. It goes through keys, and
// through types that stand for their only field.
func (c *Chunk) element(f *Field, raw []byte) Value {
	v := Value{chunk: c, typ: f.Type, field: f, raw: raw}
	pooled := f.pooled
	for range maxHops {
		switch {
		case pooled:
			if !v.follow(varint(v.raw, 0)) {
				return v
			}
			pooled = false
		case v.typ.fault != "":
			return v
		case v.typ.kind == String && v.raw[0] == pooledString:
			if !v.follow(varint(v.raw, 1)) {
				return v
			}
		case v.typ.kind == String && v.raw[0] == nullString:
			return v
		case !v.typ.simple || len(v.typ.Fields) != 1:
			v.kind = v.typ.kind
			return v
		case v.typ.Fields[0].Array:
			v.field = &v.typ.Fields[0]
			v.typ, v.kind = v.field.Type, Array
			return v
		default:
			v.typ, pooled = v.typ.Fields[0].Type, v.typ.Fields[0].pooled
		}
	}
	return v // null: what leads in a circle has no value
}

// follow goes to the constant of a key. It tells whether there is one.
func (v *Value) follow(key int64, _ int) bool {
	if v.key == 0 {
		v.key = key
	}
	v.raw = v.chunk.pools.find(v.typ, key)
	return v.raw != nil
}

// Kind says what the value is.
func (v Value) Kind() Kind { return v.kind }

// Type is the value's type, and that of its elements when it is an array; nil for a field that is
// not there.
func (v Value) Type() *Type { return v.typ }

// Key is what the value was found by; 0 for null, and for one that stands in the event itself. Values
// of one type and chunk with the same key are the same.
func (v Value) Key() int64 { return v.key }

// Int is an integer, the code of a char, 1 for true. An unsigned long above MaxInt64 is negative.
func (v Value) Int() int64 {
	switch v.kind {
	case Bool:
		return int64(min(v.raw[0], 1))
	case Char:
		n, _ := varint(v.raw, 0)
		return int64(uint16(n))
	case Int:
		return v.integer(v.field.Unsigned)
	}
	return 0
}

func (v Value) integer(unsigned bool) int64 {
	if v.typ.wire == wireOne {
		if unsigned {
			return int64(v.raw[0])
		}
		return int64(int8(v.raw[0]))
	}
	n, _ := varint(v.raw, 0)
	switch v.typ.Name {
	case "short":
		if unsigned {
			return int64(uint16(n))
		}
		return int64(int16(n))
	case "int":
		if unsigned {
			return int64(uint32(n))
		}
		return int64(int32(n))
	}
	return n
}

// Float is a number.
func (v Value) Float() float64 {
	switch {
	case v.kind == Float && v.typ.wire == wireFour:
		return float32At(v.raw)
	case v.kind == Float:
		return float64At(v.raw)
	}
	return float64(v.Int())
}

// Bool tells whether the value is true.
func (v Value) Bool() bool { return v.kind == Bool && v.raw[0] != 0 }

// Text is a string.
func (v Value) Text() string {
	if v.kind != String {
		return ""
	}
	return text(v.raw)
}

// Field is the value of a field.
func (v Value) Field(name string) Value {
	if v.kind != Struct {
		return Value{}
	}
	i := 0
	for k := range v.typ.Fields {
		f := &v.typ.Fields[k]
		if f.Name == name {
			return v.chunk.value(f, v.raw[i:])
		}
		i = f.skip(v.raw, i)
	}
	return Value{}
}

// Fields are all fields with their values.
func (v Value) Fields() iter.Seq2[*Field, Value] {
	return func(yield func(*Field, Value) bool) {
		if v.kind != Struct {
			return
		}
		i := 0
		for k := range v.typ.Fields {
			f := &v.typ.Fields[k]
			if !yield(f, v.chunk.value(f, v.raw[i:])) {
				return
			}
			i = f.skip(v.raw, i)
		}
	}
}

// Len is how many elements an array has.
func (v Value) Len() int {
	if v.kind != Array {
		return 0
	}
	n, _ := count(v.raw, 0)
	return n
}

// Elements are the values of an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.kind != Array {
			return
		}
		n, i := count(v.raw, 0)
		for ; n > 0 && i >= 0; n-- {
			if !yield(v.chunk.element(v.field, v.raw[i:])) {
				return
			}
			i = v.field.skipOne(v.raw, i)
		}
	}
}

// Unit says what an integer is; NoUnit for a plain number.
func (v Value) Unit() Unit {
	if v.field == nil {
		return NoUnit
	}
	return v.field.Unit
}

// Nanos is a time span in nanoseconds, and a timestamp in nanoseconds since 1970, by the wall clock of the
// chunk's header. MinInt64 and MaxInt64 stand for what has no end, in any unit.
func (v Value) Nanos() int64 {
	n := v.Int()
	if n == math.MinInt64 || n == math.MaxInt64 || v.field == nil {
		return n
	}
	switch v.field.Unit {
	case TimestampTicks:
		return v.chunk.Clock.WallNanos(n)
	case TimespanTicks:
		return v.chunk.Clock.Nanos(n)
	case TimespanMicros:
		return scale(n, 1000)
	case TimespanMillis, TimestampMillis:
		return scale(n, 1_000_000)
	case TimespanSeconds:
		return scale(n, 1_000_000_000)
	}
	return n
}

// scale multiplies; what is too long becomes the longest.
func scale(n, by int64) int64 {
	switch {
	case n > math.MaxInt64/by:
		return math.MaxInt64
	case n < math.MinInt64/by:
		return math.MinInt64
	}
	return n * by
}
