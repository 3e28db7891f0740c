package jfr

import (
	"errors"
	"fmt"
	"strconv"
)

// Limits for the metadata of a chunk. For comparison, a JDK has about 3,500 strings, 450 types and 1,900 fields. If
// there are more than maxTypes types, the rest is ignored. If one of the other limits is exceeded, the metadata counts
// as damaged.
const (
	maxMetadataStrings  = 1 << 20
	maxMetadataElements = 1 << 18
	maxMetadataValues   = 1 << 20 // attributes of all elements
	maxTypes            = 1 << 16
	maxMetadataDepth    = 32 // levels of elements; JFR has five
)

// metadata has what the metadata events of a chunk define.
type metadata struct {
	types     map[int64]*Type
	gmtMillis int // offset of the JVM's time zone from UTC, positive east of Greenwich
}

// A metadataParser reads one metadata event: a table of strings, and elements that refer to it.
//
//	<root><metadata><class name="jdk.GCPhasePause" superType="jdk.jfr.Event" id="113">
//	  <annotation class="176" value="GC Phase Pause"/>
//	  <field name="duration" class="10"><annotation class="158" value="TICKS"/></field> …
//	<region locale="en_US" gmtOffset="0"/>
type metadataParser struct {
	data     []byte
	at       int // -1 after damage
	strings  []string
	elements int
	values   int
	into     *metadata
	class    *Type // the class whose element is being read, or nil
	field    *Field
}

var errMetadata = errors.New("the metadata is cut or damaged")

// add reads a metadata event. d begins after the event's size and type. Each metadata event has all classes that the
// JVM knows at that time, so its classes replace those of earlier events in the chunk.
func (m *metadata) add(d []byte) error {
	p := &metadataParser{data: d, into: m}
	for range 3 {
		p.int() // the event's start and duration, and an id that changes whenever the types change
	}
	if err := p.readStrings(); err != nil {
		return err
	}
	return p.element(0)
}

func (p *metadataParser) int() int {
	v, next := varint(p.data, p.at)
	p.at = next
	return int(int32(v))
}

func (p *metadataParser) readStrings() error {
	n, next := count(p.data, p.at)
	if next < 0 {
		return errMetadata
	}
	if n > maxMetadataStrings {
		return fmt.Errorf("the metadata has %d strings, more than the %d that gasm reads", n, maxMetadataStrings)
	}
	p.at = next
	p.strings = make([]string, 0, n)
	for range n {
		start := p.at
		if p.at = skipString(p.data, start); p.at < 0 {
			return errMetadata
		}
		p.strings = append(p.strings, text(p.data[start:p.at]))
	}
	return nil
}

func (p *metadataParser) string() string {
	if i := p.int(); p.at >= 0 && i >= 0 && i < len(p.strings) {
		return p.strings[i]
	}
	p.at = -1
	return ""
}

// element reads an element and the elements within it.
func (p *metadataParser) element(depth int) error {
	p.elements++
	if depth > maxMetadataDepth || p.elements > maxMetadataElements {
		return errors.New("the metadata has too many elements or is nested too deeply")
	}
	name := p.string()
	attributes := make([]Attribute, 0, 4)
	n := p.int()
	if p.values += max(n, 0); p.values > maxMetadataValues {
		return errors.New("an element of the metadata has too many attributes")
	}
	for ; n > 0 && p.at >= 0; n-- {
		attributes = append(attributes, Attribute{p.string(), p.string()})
	}
	if p.at < 0 {
		return errMetadata
	}
	class, field := p.class, p.field
	p.open(name, attributes)
	for n := p.int(); n > 0 && p.at >= 0; n-- {
		if err := p.element(depth + 1); err != nil {
			return err
		}
	}
	p.class, p.field = class, field
	if p.at < 0 {
		return errMetadata
	}
	return nil
}

// open handles an element's name and attributes. If the element is a class or a field, open sets p.class or p.field to
// it, so that the elements inside it are added to it. The caller restores both fields afterwards.
func (p *metadataParser) open(name string, attributes []Attribute) {
	switch name {
	case "class":
		p.class, p.field = newType(attributes), nil
		if len(p.into.types) < maxTypes {
			p.into.types[p.class.ID] = p.class
		}
	case "field":
		if p.class != nil {
			p.class.Fields = append(p.class.Fields, newField(attributes))
			p.field = &p.class.Fields[len(p.class.Fields)-1]
		}
	case "annotation":
		p.annotate(attributes)
	case "setting":
		p.class = nil // so that the annotations of the setting are not added to the event's class
	case "region":
		for _, a := range attributes {
			if a.Name == "gmtOffset" {
				p.into.gmtMillis, _ = strconv.Atoi(a.Value) // 0 if it is not a number
			}
		}
	}
}

func newType(attributes []Attribute) *Type {
	t := new(Type)
	for _, a := range attributes {
		switch a.Name {
		case "id":
			t.ID = number(a.Value)
		case "name":
			t.Name = a.Value
		case "superType":
			t.Super = a.Value
		case "simpleType":
			t.simple = true
		}
	}
	return t
}

func newField(attributes []Attribute) Field {
	var f Field
	for _, a := range attributes {
		switch a.Name {
		case "name":
			f.Name = a.Value
		case "class":
			f.typeID = number(a.Value)
		case "dimension":
			f.Array = number(a.Value) > 0
		case "constantPool":
			f.pooled = true
		}
	}
	return f
}

// number reads a decimal number. It returns -1 for any other text, because no type has the id -1.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// annotate adds an annotation to the current field, or to the current class if it is outside of a field. The name of
// the annotation is not known yet. Its first attribute is only the id of a class, and the class may come later in the
// metadata. resolve adds the name.
func (p *metadataParser) annotate(attributes []Attribute) {
	switch {
	case p.class == nil:
	case p.field != nil:
		p.field.Annotations = append(p.field.Annotations, Annotation{Values: attributes})
	default:
		p.class.Annotations = append(p.class.Annotations, Annotation{Values: attributes})
	}
}

// resolve completes the types. It is called after all metadata of a chunk has been added.
func (m *metadata) resolve() {
	for _, t := range m.types {
		t.prepare(m.types)
		m.name(t.Annotations)
		for i := range t.Fields {
			f := &t.Fields[i]
			m.name(f.Annotations)
			for _, a := range f.Annotations {
				f.take(a)
			}
		}
	}
}

// name sets the Name of each annotation. It takes the name from the class whose id is in the annotation's attribute
// "class", and removes that attribute.
func (m *metadata) name(annotations []Annotation) {
	for i := range annotations {
		a := &annotations[i]
		for k, attribute := range a.Values {
			if attribute.Name != "class" {
				continue
			}
			if t := m.types[number(attribute.Value)]; t != nil {
				a.Name = t.Name
			}
			a.Values = append(a.Values[:k:k], a.Values[k+1:]...)
			break
		}
	}
}

// units maps the name and the value of an annotation to a unit.
var units = map[string]map[string]Unit{
	"jdk.jfr.Timestamp": {"TICKS": TimestampTicks, "MILLISECONDS_SINCE_EPOCH": TimestampMillis},
	"jdk.jfr.Timespan": {"TICKS": TimespanTicks, "NANOSECONDS": TimespanNanos, "MICROSECONDS": TimespanMicros,
		"MILLISECONDS": TimespanMillis, "SECONDS": TimespanSeconds},
	"jdk.jfr.Percentage": {"": Percentage},
	"jdk.jfr.DataAmount": {"BYTES": Bytes},
}

// take sets the field's Unsigned or Unit if the annotation says something about them.
func (f *Field) take(a Annotation) {
	if a.Name == "jdk.jfr.Unsigned" {
		f.Unsigned = true
	}
	known := units[a.Name]
	if known == nil {
		return
	}
	value := ""
	for _, v := range a.Values {
		if v.Name == "value" {
			value = v.Value
		}
	}
	unit, ok := known[value]
	if !ok {
		unit = OtherUnit
	}
	f.Unit = unit
}
