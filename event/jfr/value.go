package jfr

import (
	"iter"
	"math"
)

// A Value is a value in an event. It is valid until the next Scan. Its methods decode it each time they are called. A
// method that does not fit the kind of the value returns the zero value. For example, the Text of a number is "", and
// each Field of a string is null.
type Value struct {
	chunk *Chunk
	typ   *Type
	field *Field // the field that holds the value; nil for the zero Value
	raw   []byte // begins with the value's bytes; other bytes may follow
	kind  Kind
	key   int64
}

// A Kind says what a Value is.
type Kind uint8

// The kinds.
const (
	Null Kind = iota // null, a field that the type does not have, or a value that can't be read
	Bool
	Int // byte, short, int, long
	Char
	Float // float and double
	String
	Struct
	Array
)

// value returns the value of a field. raw begins with the value's bytes.
func (c *Chunk) value(f *Field, raw []byte) Value {
	if f.Array {
		return Value{chunk: c, typ: f.Type, field: f, raw: raw, kind: Array}
	}
	return c.element(f, raw)
}

// maxHops limits the number of steps from a field to its value. For example, a field with the key of a constant of
// type GCName takes three steps: to the constant, to the only field of GCName, and to the string whose key is in that
// field.
const maxHops = 8

// element returns the value of a field or, if the field is an array, of one of its elements. It follows keys to their
// constants, and unwraps values of simple types.
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
	return v // null: a type can contain itself through keys, so following the keys might never end
}

// follow sets v.raw to the constant of v's type that has the given key. It reports whether there is such a constant.
func (v *Value) follow(key int64, _ int) bool {
	if v.key == 0 {
		v.key = key
	}
	v.raw = v.chunk.pools.find(v.typ, key)
	return v.raw != nil
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Type returns the value's type, or the type of its elements if it is an array. It returns nil for a field that does
// not exist.
func (v Value) Type() *Type { return v.typ }

// Key returns the key of the constant that the value was read from. It returns 0 if the value is in the event itself.
// Two values of the same chunk are equal if they have the same type and the same key.
func (v Value) Key() int64 { return v.key }

// Int returns the value of an integer, the code of a char, or 1 for true. For an unsigned long above MaxInt64, the
// result is negative.
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

// Float returns the value of a float or double. For all other values, it returns Int as a float64.
func (v Value) Float() float64 {
	switch {
	case v.kind == Float && v.typ.wire == wireFour:
		return float32At(v.raw)
	case v.kind == Float:
		return float64At(v.raw)
	}
	return float64(v.Int())
}

// Bool reports whether the value is true.
func (v Value) Bool() bool { return v.kind == Bool && v.raw[0] != 0 }

// Text returns the value of a string.
func (v Value) Text() string {
	if v.kind != String {
		return ""
	}
	return text(v.raw)
}

// Field returns the value of a field of a struct. It returns null if there is no such field.
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

// Fields returns an iterator over all fields and their values.
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

// Len returns the number of elements of an array.
func (v Value) Len() int {
	if v.kind != Array {
		return 0
	}
	n, _ := count(v.raw, 0)
	return n
}

// Elements returns an iterator over the elements of an array.
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

// Unit returns the unit of an integer, or NoUnit for a plain number.
func (v Value) Unit() Unit {
	if v.field == nil {
		return NoUnit
	}
	return v.field.Unit
}

// Nanos returns a time span in nanoseconds, or a timestamp in nanoseconds since 1970, on the wall clock of the chunk's
// header. It returns MinInt64 and MaxInt64 unchanged, because in every unit they mean an unlimited time.
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

// scale returns n*by, or the largest or smallest int64 if that overflows.
func scale(n, by int64) int64 {
	switch {
	case n > math.MaxInt64/by:
		return math.MaxInt64
	case n < math.MinInt64/by:
		return math.MinInt64
	}
	return n * by
}
