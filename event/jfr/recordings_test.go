package jfr

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// The functions below make small recordings for tests: chunks of metadata, checkpoints and events.

func integer(v int64) []byte {
	var d []byte
	for range 8 {
		if v&^0x7f == 0 {
			return append(d, byte(v))
		}
		d = append(d, byte(v)|0x80)
		v = int64(uint64(v) >> 7)
	}
	return append(d, byte(v))
}

func integers(values ...int64) (d []byte) {
	for _, v := range values {
		d = append(d, integer(v)...)
	}
	return d
}

// utf8Text returns a string with the encoding 3 (UTF-8).
func utf8Text(s string) []byte {
	return slices.Concat([]byte{utf8String}, integer(int64(len(s))), []byte(s))
}

// sized puts the size and type before the contents of an event.
func sized(id int64, parts ...[]byte) []byte {
	body := append(integer(id), slices.Concat(parts...)...)
	size := len(body) + 4 // the size takes 4 bytes, as HotSpot pads it
	return append([]byte{byte(size)&0x7f | 0x80, byte(size>>7)&0x7f | 0x80, byte(size>>14)&0x7f | 0x80,
		byte(size >> 21)}, body...)
}

// A node is an element of the metadata: its name, the names and values of its attributes, and its inner elements.
type node struct {
	name       string
	attributes []string
	inner      []node
}

// metadataOf returns a metadata event with the given classes.
func metadataOf(classes ...node) []byte {
	root := node{"root", nil, []node{{"metadata", nil, classes}, {"region", []string{"gmtOffset", "3600000"}, nil}}}
	var table []string
	number := func(s string) int64 {
		if i := slices.Index(table, s); i >= 0 {
			return int64(i)
		}
		table = append(table, s)
		return int64(len(table) - 1)
	}
	var body []byte
	var write func(n node)
	write = func(n node) {
		body = append(body, integers(number(n.name), int64(len(n.attributes)/2))...)
		for _, a := range n.attributes {
			body = append(body, integer(number(a))...)
		}
		body = append(body, integer(int64(len(n.inner)))...)
		for _, i := range n.inner {
			write(i)
		}
	}
	write(root)
	head := integers(1, 0, 7, int64(len(table)))
	for _, s := range table {
		head = append(head, utf8Text(s)...)
	}
	return sized(0, head, body)
}

func class(id int64, name string, attributes []string, inner ...node) node {
	return node{"class", append([]string{"id", strconv.FormatInt(id, 10), "name", name}, attributes...), inner}
}

func field(name string, class int64, attributes ...string) node {
	return node{"field", append([]string{"name", name, "class", strconv.FormatInt(class, 10)}, attributes...), nil}
}

// with adds annotations to a field or class.
func (n node) with(annotations ...node) node {
	n.inner = append(annotations, n.inner...)
	return n
}

func annotation(class int64, value string) node {
	return node{"annotation", []string{"class", strconv.FormatInt(class, 10), "value", value}, nil}
}

// pooled and array return attributes of fields.
var (
	pooled = []string{"constantPool", "true"}
	array  = []string{"dimension", "1"}
	super  = []string{"superType", eventSuper}
	simple = []string{"simpleType", "true"}
)

// Ids of the classes that all these recordings have.
const (
	idLong = iota + 10
	idInt
	idString
	idByte
	idDouble
	idBool
	idTimespan
	idGCName
	idThread
	idFrame
	idStack
	idEvent
)

// basicClasses returns the classes of most of these recordings.
func basicClasses() []node {
	return []node{
		class(idLong, "long", nil), class(idInt, "int", nil), class(idString, "java.lang.String", nil),
		class(idByte, "byte", nil), class(idDouble, "double", nil), class(idBool, "boolean", nil),
		class(idTimespan, "jdk.jfr.Timespan", nil, field("value", idString)),
		class(idGCName, "jdk.types.GCName", simple, field("name", idString)),
		class(idThread, "java.lang.Thread", nil, field("osName", idString), field("osThreadId", idLong),
			field("javaName", idString), field("javaThreadId", idLong)),
		class(idFrame, "jdk.types.StackFrame", nil, field("lineNumber", idInt), field("bytecodeIndex", idInt)),
		class(idStack, "jdk.types.StackTrace", nil, field("truncated", idBool), field("frames", idFrame, array...)),
		class(idEvent, "test.Event", super, field("startTime", idLong),
			field("duration", idLong).with(annotation(idTimespan, "TICKS")),
			field("eventThread", idThread, pooled...), field("stackTrace", idStack, pooled...),
			field("gc", idGCName, pooled...),
			field("text", idString), field("number", idInt), field("share", idDouble)),
	}
}

// A constantPool is a pool in a checkpoint.
type constantPool struct {
	class  int64
	values [][]byte // key and value
}

func checkpointOf(delta int64, made ...constantPool) []byte {
	d := slices.Concat(integers(5, 0, delta), []byte{0}, integer(int64(len(made))))
	for _, p := range made {
		d = append(d, integers(p.class, int64(len(p.values)))...)
		d = append(d, slices.Concat(p.values...)...)
	}
	return sized(1, d)
}

func basicCheckpoint() []byte {
	return checkpointOf(0,
		constantPool{idGCName, [][]byte{slices.Concat(integer(3), utf8Text("G1New")),
			slices.Concat(integer(4), []byte{pooledString}, integer(77))}},
		constantPool{idString, [][]byte{slices.Concat(integer(77), utf8Text("pooled"))}},
		constantPool{idThread, [][]byte{slices.Concat(integer(8), utf8Text("os"), integer(4711), utf8Text("main"),
			integer(1))}},
		constantPool{idStack, [][]byte{slices.Concat(integer(9), []byte{1}, integers(2, 10, 20, 30, 40))}},
	)
}

// basicEvent returns an event of the type test.Event.
func basicEvent(start int64, gc int64, text []byte, number int64) []byte {
	return sized(idEvent, integers(start, 50, 8, 9, gc), text, integer(number),
		binary.BigEndian.AppendUint64(nil, math.Float64bits(0.5)))
}

// A header is the header of a chunk. Fields that are 0 are set to correct values.
type header struct {
	size, checkpoints, metadata, ticks int64
	state                              byte
}

// chunkOf returns a chunk. The first of the events is usually the metadata.
func (h header) chunkOf(parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	or := func(v, other int64) int64 {
		if v == 0 {
			return other
		}
		return v
	}
	d := []byte{'F', 'L', 'R', 0, 0, 2, 0, 1}
	for _, v := range []int64{or(h.size, int64(headerSize+len(body))), h.checkpoints, or(h.metadata, headerSize),
		1_700_000_000_000_000_001, 1000, 100, or(h.ticks, 1e9)} {
		d = binary.BigEndian.AppendUint64(d, uint64(v))
	}
	return append(append(d, h.state, 0, 0, 1), body...)
}

// basicChunk returns a complete chunk with three events. The second event refers to a constant that does not exist.
func basicChunk() []byte {
	return header{}.chunkOf(metadataOf(basicClasses()...), basicEvent(200, 3, utf8Text("one"), 1),
		basicEvent(300, 99, []byte{nullString}, -2),
		basicCheckpoint(), basicEvent(400, 4, slices.Concat([]byte{pooledString}, integer(77)), 3))
}
