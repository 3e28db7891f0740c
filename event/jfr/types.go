package jfr

import "fmt"

// A Type is a type of values or events. Each chunk of a recording defines its own types.
type Type struct {
	ID     int64 // differs from run to run
	Name   string
	Super  string // "jdk.jfr.Event" for events; "" for most other types
	Fields []Field
	// Annotations are the annotations of the class, such as its label and category.
	Annotations []Annotation

	simple bool // true if the type only wraps its single field
	kind   Kind // Struct, unless the type is primitive
	wire   wire
	state  typeState
	height int    // the number of levels in the type: 1 for a primitive type, 2 for a type with only primitive fields
	fault  string // why its values can't be read; "" if they can
}

// A Field is a field of a Type.
type Field struct {
	Name        string
	Type        *Type
	Array       bool
	Annotations []Annotation
	Unit        Unit
	Unsigned    bool

	typeID int64
	pooled bool // true if the file has the key of a constant in place of the field's value
	wire   wire
}

// An Annotation is a Java annotation of a class or field, for example jdk.jfr.Timespan with value=NANOSECONDS.
type Annotation struct {
	Name   string
	Values []Attribute
}

// An Attribute is one value of an annotation. An array has an attribute for each element: value-0, value-1 and so on.
type Attribute struct{ Name, Value string }

// A Unit says what an integer measures.
type Unit uint8

// The units.
const (
	NoUnit Unit = iota
	TimestampTicks
	TimestampMillis // since 1970
	TimespanTicks
	TimespanNanos
	TimespanMicros
	TimespanMillis
	TimespanSeconds
	Percentage // 1 is 100 %
	Bytes
	OtherUnit // a unit that is not in this list; the field's annotations have it
)

const eventSuper = "jdk.jfr.Event"

// IsEvent reports whether values of the type are events.
func (t *Type) IsEvent() bool { return t.Super == eventSuper }

// Field returns the field with the given name, or nil if there is no such field.
func (t *Type) Field(name string) *Field {
	if i := t.index(name); i >= 0 {
		return &t.Fields[i]
	}
	return nil
}

func (t *Type) index(name string) int {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// hasDuration reports whether events of the type have a duration, which is then their second field.
func (t *Type) hasDuration() bool { return len(t.Fields) > 1 && t.Fields[1].isLong("duration") }

func (f *Field) isLong(name string) bool {
	return f.Name == name && !f.Array && !f.pooled && f.wire == wireVarint
}

// A wire says how many bytes a value takes in the file.
type wire uint8

const (
	wireStruct wire = iota
	wireVarint
	wireOne
	wireFour
	wireEight
	wireString
)

// primitives are the types without fields.
var primitives = map[string]struct {
	kind Kind
	wire wire
}{
	"boolean":          {Bool, wireOne},
	"byte":             {Int, wireOne},
	"short":            {Int, wireVarint},
	"int":              {Int, wireVarint},
	"long":             {Int, wireVarint},
	"char":             {Char, wireVarint},
	"float":            {Float, wireFour},
	"double":           {Float, wireEight},
	"java.lang.String": {String, wireString},
}

// maxHeight limits how deeply types can be nested within one another. Values that are reached through the key of a
// constant do not count. JFR's own types have three levels: a stack trace has frames, and a frame has integers.
const maxHeight = 32

type typeState uint8

const (
	unprepared typeState = iota
	preparing
	prepared
)

// prepare sets kind, wire and height of a type and of the types of its fields. If values of the type can't be read, it
// sets fault. One such fault is a type that has no fields although it is not primitive: its values take no bytes, so a
// loop over them could have more iterations than the input has bytes.
func (t *Type) prepare(types map[int64]*Type) {
	if t.state != unprepared {
		return
	}
	t.state = preparing
	defer func() { t.state = prepared }()
	t.kind, t.wire, t.height = Struct, wireStruct, 1
	if p, ok := primitives[t.Name]; ok && len(t.Fields) == 0 {
		t.kind, t.wire = p.kind, p.wire
		return
	}
	if len(t.Fields) == 0 {
		t.fault = t.Name + " has no fields"
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type = types[f.typeID]; f.Type == nil {
			f.Type = &Type{ID: f.typeID, kind: Struct, state: prepared,
				fault: fmt.Sprintf("type %d is not in the metadata", f.typeID)}
		}
		if f.pooled {
			f.wire = wireVarint
			continue
		}
		if f.Type.state == preparing {
			t.fault = t.Name + " contains itself"
			continue
		}
		f.Type.prepare(types)
		f.wire = f.Type.wire
		t.height = max(t.height, f.Type.height+1)
		if f.Type.fault != "" {
			t.fault = fmt.Sprintf("the field %s of %s: %s", f.Name, t.Name, f.Type.fault)
		}
		if t.height > maxHeight {
			t.fault = t.Name + " is nested too deep"
		}
	}
	if t.IsEvent() && t.fault == "" && !t.Fields[0].isLong("startTime") {
		t.fault = t.Name + " has no start time"
	}
}

// skip returns the offset after the value at i.
func (t *Type) skip(d []byte, i int) int {
	switch t.wire {
	case wireVarint:
		return skipVarint(d, i)
	case wireOne:
		return skipBytes(d, i, 1)
	case wireFour:
		return skipBytes(d, i, 4)
	case wireEight:
		return skipBytes(d, i, 8)
	case wireString:
		return skipString(d, i)
	}
	for k := range t.Fields {
		if i = t.Fields[k].skip(d, i); i < 0 {
			return -1
		}
	}
	return i
}

// skip returns the offset after the field's value at i.
func (f *Field) skip(d []byte, i int) int {
	if !f.Array {
		return f.skipOne(d, i)
	}
	n, i := count(d, i)
	for ; n > 0 && i >= 0; n-- {
		i = f.skipOne(d, i)
	}
	return i
}

// skipOne returns the offset after the single value at i. If the field is an array, that value is one of its elements.
func (f *Field) skipOne(d []byte, i int) int {
	if f.wire == wireVarint {
		return skipVarint(d, i)
	}
	return f.Type.skip(d, i)
}
