package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func made(d []byte) *Reader { return NewReader(bytes.NewReader(d), int64(len(d)), "made.jfr") }

// read returns the start times of all events.
func read(r *Reader) (starts []int64) {
	for r.Scan() {
		starts = append(starts, r.Event().StartTicks())
	}
	return starts
}

func TestReader(t *testing.T) {
	r := made(basicChunk())
	require.True(t, r.Scan())
	e := r.Event()
	assert.Equal(t, "test.Event", e.Type().Name)
	assert.Equal(t, int64(200), e.StartTicks())
	assert.Equal(t, int64(50), e.DurationTicks())
	assert.Equal(t, TimespanTicks, e.Field("duration").Unit())
	assert.Equal(t, "G1New", e.Field("gc").Text())
	assert.Equal(t, int64(3), e.Field("gc").Key())
	assert.Equal(t, "one", e.Field("text").Text())
	assert.Equal(t, int64(1), e.Field("number").Int())
	assert.InDelta(t, 0.5, e.Field("share").Float(), 0)
	assert.Equal(t, &Thread{OSID: 4711, JavaID: 1, Name: "main"}, e.Thread())
	assert.Same(t, e.Thread(), e.Thread())
	assert.Equal(t, &Stack{Frames: []Frame{{Line: 10, BCI: 20}, {Line: 30, BCI: 40}}, Truncated: true}, e.Stack())
	assert.Equal(t, Value{}, e.Field("none"))
	assert.Equal(t, Null, e.Field("none").Field("inner").Kind())
	assert.Equal(t, 3_600_000, e.Chunk().GMTMillis)
	require.True(t, r.Scan())
	assert.Equal(t, Null, r.Event().Field("gc").Kind(), "there is no such constant")
	assert.Equal(t, Null, r.Event().Field("text").Kind())
	assert.Equal(t, int64(-2), r.Event().Field("number").Int())
	require.True(t, r.Scan())
	assert.Equal(t, "pooled", r.Event().Field("gc").Text())
	assert.Equal(t, "pooled", r.Event().Field("text").Text())
	assert.False(t, r.Scan())
	require.NoError(t, r.Err())
	assert.Equal(t, Damage{}, r.Damage())
}

// TestConstants checks that if two constants have the same key, the first one wins, and that each chunk has its own
// constants.
func TestConstants(t *testing.T) {
	name := func(text string) []byte {
		return checkpointOf(0, constantPool{idGCName, [][]byte{slices.Concat(integer(3), utf8Text(text))}})
	}
	metadata := metadataOf(basicClasses()...)
	event := basicEvent(200, 3, utf8Text("x"), 1)
	r := made(slices.Concat(header{}.chunkOf(metadata, name("first"), event, name("second")),
		header{}.chunkOf(metadata, event, name("third"))))
	var names []string
	for r.Scan() {
		names = append(names, r.Event().Field("gc").Text())
	}
	assert.Equal(t, []string{"first", "third"}, names)
	assert.Equal(t, Damage{}, r.Damage())
}

// TestDamage reads recordings that are cut off or damaged.
func TestDamage(t *testing.T) {
	metadata := metadataOf(basicClasses()...)
	event := func(start int64) []byte { return basicEvent(start, 3, utf8Text("x"), 1) }
	whole := basicChunk()
	bad := sized(idEvent, integers(250, 50, 8)) // fields are missing
	checkpoint := basicCheckpoint()
	zeros := make([]byte, 100)
	for _, c := range []struct {
		name   string
		in     []byte
		starts []int64
		want   Damage // the field First has parts of the messages
	}{
		{"whole", slices.Concat(whole, whole), []int64{200, 300, 400, 200, 300, 400}, Damage{}},
		{"cut in an event", whole[:len(whole)-3], []int64{200, 300},
			Damage{Chunks: 1, First: []string{"bytes of a chunk could not be read"}}},
		{"cut in the header", slices.Concat(whole, whole[:30]), []int64{200, 300, 400},
			Damage{Chunks: 1, First: []string{"header of a chunk is cut"}}},
		{"no metadata", header{}.chunkOf(event(100)), nil, Damage{Chunks: 1, First: []string{"no types"}}},
		{"a bad event", header{}.chunkOf(metadata, event(100), bad, event(300)), []int64{100, 300},
			Damage{Events: 1, First: []string{"does not have the fields"}}},
		{"an unknown type", header{}.chunkOf(metadata, event(100), sized(99, zeros), event(300)), []int64{100, 300},
			Damage{Events: 1, First: []string{"type 99"}}},
		{"zeros, and another chunk", slices.Concat(header{}.chunkOf(metadata, event(100), zeros, event(300)), whole),
			[]int64{100, 200, 300, 400},
			Damage{Chunks: 1, First: []string{"bytes of a chunk could not be read"}}},
		{"bytes between chunks", slices.Concat(whole, zeros, whole), []int64{200, 300, 400, 200, 300, 400},
			Damage{Chunks: 1, First: []string{"between two chunks"}}},
		{"a size that is too large", slices.Concat(header{size: 1 << 40}.chunkOf(metadata, event(100)), whole),
			[]int64{100, 200, 300, 400},
			Damage{Chunks: 1, First: []string{"the end of a chunk is missing"}}},
		{"a size that is too small", slices.Concat(header{size: 3}.chunkOf(metadata, event(100)), whole),
			[]int64{100, 200, 300, 400},
			Damage{Chunks: 1, First: []string{"the end of a chunk is missing"}}},
		{"no ticks", slices.Concat(header{ticks: -5}.chunkOf(metadata, event(100)), whole), []int64{200, 300, 400},
			Damage{Chunks: 1, First: []string{"-5 ticks"}}},
		{"unfinished", slices.Concat(header{state: 3, size: 100}.chunkOf(metadata, event(100), checkpoint, event(200),
			event(300)[:9])), []int64{100, 200}, Damage{}},
		{"unfinished, without types", header{state: 1}.chunkOf(event(100)), nil,
			Damage{Chunks: 1, First: []string{"JVM ended while it wrote"}}},
		{"unfinished, and another", slices.Concat(header{state: 255}.chunkOf(metadata, event(100)), whole),
			[]int64{100, 200, 300, 400}, Damage{}},
		{"a cut checkpoint", header{}.chunkOf(metadata, event(100), sized(1, integers(5, 0, 0, 0, 1, idGCName, 3, 7))),
			[]int64{100},
			Damage{Checkpoints: 1, First: []string{"cut or damaged"}}},
		{"constants of no type", header{}.chunkOf(metadata, event(100), sized(1, integers(5, 0, 0, 0, 1, 99, 1, 7, 0))),
			[]int64{100},
			Damage{Checkpoints: 1, First: []string{"type 99"}}},
		{"no event type", header{}.chunkOf(metadata, sized(idThread, zeros)), nil,
			Damage{Events: 1, First: []string{"not in the metadata"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := made(c.in)
			assert.Equal(t, c.starts, read(r))
			require.NoError(t, r.Err())
			got := r.Damage()
			require.Len(t, got.First, len(c.want.First))
			for i, text := range c.want.First {
				assert.Contains(t, got.First[i], text)
			}
			got.First = c.want.First
			assert.Equal(t, c.want, got)
		})
	}
}

// TestBehindDamage checks that metadata and checkpoints after damage are found by means of the chunk's header. Events
// before the damage need their constants.
func TestBehindDamage(t *testing.T) {
	metadata, event, checkpoint := metadataOf(basicClasses()...), basicEvent(100, 3, utf8Text("x"), 1),
		basicCheckpoint()
	zeros := make([]byte, 10)
	second := checkpointOf(-int64(len(checkpoint)),
		constantPool{idGCName, [][]byte{slices.Concat(integer(3), utf8Text("later"))}})
	at := int64(headerSize + len(event) + len(zeros))
	in := header{metadata: at, checkpoints: at + int64(len(metadata)+len(checkpoint))}.chunkOf(event, zeros, metadata,
		checkpoint, second)
	r := made(in)
	require.True(t, r.Scan())
	assert.Equal(t, "G1New", r.Event().Field("gc").Text())
	assert.Equal(t, "main", r.Event().Thread().Name)
	assert.False(t, r.Scan())
	assert.Equal(t, 1, r.Damage().Chunks)
}

// TestTypes checks types whose values can't be read, or whose reading would never end.
func TestTypes(t *testing.T) {
	start := field("startTime", idLong)
	const id = 50
	deep := func(n int) (nodes []node) {
		for i := range int64(n) {
			nodes = append(nodes, class(100+i, fmt.Sprint("deep", i), nil, field("a", 101+i), field("b", 101+i)))
		}
		return append(nodes, class(100+int64(n), "leaf", nil, field("x", idLong)))
	}
	for _, c := range []struct {
		name    string
		classes []node
		want    string
	}{
		{"no field", []node{class(id, "test.Bad", super)}, "has no fields"},
		{"no start", []node{class(id, "test.Bad", super, field("other", idLong))}, "has no start time"},
		{"start is a string", []node{class(id, "test.Bad", super, field("startTime", idString))}, "has no start time"},
		{"an unknown type", []node{class(id, "test.Bad", super, start, field("x", 99))}, "type 99 is not in the metadata"},
		{"an empty type", []node{class(60, "test.Empty", nil), class(id, "test.Bad", super, start, field("x", 60, array...))},
			"has no fields"},
		{"within itself", []node{class(id, "test.Bad", super, start, field("x", id))}, "contains itself"},
		{"within itself, as an array", []node{class(60, "test.Tree", nil, field("x", idLong), field("inner", 60, array...)),
			class(id, "test.Bad", super, start, field("x", 60))}, "contains itself"},
		{"two within one another", []node{class(60, "test.A", nil, field("x", 61)), class(61, "test.B", nil, field("x", 60)),
			class(id, "test.Bad", super, start, field("x", 61))}, "contains itself"},
		{"deep", append(deep(1000), class(id, "test.Bad", super, start, field("x", 100))), "too deep"},
		// 2^25 of them
		{"wide", append(deep(25), class(id, "test.Bad", super, start, field("x", 100))), "does not have the fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			metadata := metadataOf(append(basicClasses(), c.classes...)...)
			r := made(header{}.chunkOf(metadata, sized(id, make([]byte, 20)), basicEvent(100, 3, utf8Text("x"), 1)))
			assert.Equal(t, []int64{100}, read(r))
			require.NoError(t, r.Err())
			assert.Equal(t, 1, r.Damage().Events)
			assert.Contains(t, r.Damage().First[0], c.want)
		})
	}
}

// TestCircles checks that simple types and strings that refer to one another in a circle become null.
func TestCircles(t *testing.T) {
	classes := append(basicClasses(),
		class(60, "test.A", simple, field("x", 61, pooled...)), class(61, "test.B", simple, field("x", 60, pooled...)),
		class(50, "test.Circle", super, field("startTime", idLong), field("a", 60, pooled...), field("s", idString),
			field("p", idString, pooled...)))
	checkpoint := checkpointOf(0,
		constantPool{60, [][]byte{integers(1, 2)}}, constantPool{61, [][]byte{integers(2, 1)}},
		constantPool{idString, [][]byte{integers(5, pooledString, 5)}})
	r := made(header{}.chunkOf(metadataOf(classes...), checkpoint, sized(50, integers(100, 1, pooledString, 5, 5))))
	require.True(t, r.Scan())
	for _, name := range []string{"a", "s", "p"} {
		assert.Equal(t, Null, r.Event().Field(name).Kind(), name)
		assert.Empty(t, r.Event().Field(name).Text(), name)
	}
	assert.Equal(t, Damage{}, r.Damage())
}

func TestForeign(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "made.jfr is empty"},
		{"PK\x03\x04 a zip", `is not a recording of Java Flight Recorder: it begins with "PK\x03\x04", not with "FLR\x00"`},
		{"FL", "is not a recording"},
		{"FLR\x00\x00\x01\x00\x00" + strings.Repeat("\x00", 80), "its version is 1.0, but gasm reads 2.x only"},
	} {
		r := made([]byte(c.in))
		assert.False(t, r.Scan())
		require.ErrorContains(t, r.Err(), c.want)
		assert.False(t, r.Scan())
	}
}

// A brokenFile returns an error after some bytes.
type brokenFile struct {
	in   []byte
	good int64
}

var errBroken = errors.New("input/output error")

func (b brokenFile) ReadAt(d []byte, at int64) (int, error) {
	if at+int64(len(d)) > b.good {
		return 0, errBroken
	}
	return bytes.NewReader(b.in).ReadAt(d, at)
}

func TestBrokenFile(t *testing.T) {
	in := slices.Concat(basicChunk(), make([]byte, bufferSize))
	for good := range int64(2) {
		r := NewReader(brokenFile{in, good * bufferSize}, int64(len(in)), "broken.jfr")
		read(r)
		require.ErrorIs(t, r.Err(), errBroken)
		assert.ErrorContains(t, r.Err(), "reading broken.jfr")
	}
}

func TestText(t *testing.T) {
	utf16Text := func(units ...int64) []byte {
		return slices.Concat([]byte{utf16String}, integers(int64(len(units))), integers(units...))
	}
	for _, c := range []struct {
		in   []byte
		want string
	}{
		{[]byte{nullString}, ""},
		{[]byte{emptyString}, ""},
		{utf8Text("Grüße \U0001F600"), "Grüße \U0001F600"},
		{utf8Text("nul \xC0\x80 pair \xED\xA0\xBD\xED\xB8\x80"), "nul \x00 pair \U0001F600"},
		{utf8Text("half \xED\xA0\xBD bad \xFF"), "half \uFFFD\uFFFD\uFFFD bad \uFFFD"},
		{utf16Text('a', 0xD83D, 0xDE00, 'b'), "a\U0001F600b"},
		{utf16Text(0xD83D, 0xD83D, 0xDE00, 0xDE00, 0xD83D), "\uFFFD\U0001F600\uFFFD\uFFFD"},
		{[]byte{latin1String, 2, 0xE4, 'x'}, "äx"},
	} {
		assert.Equal(t, len(c.in), skipString(c.in, 0), "%q", c.in)
		assert.Equal(t, c.want, text(c.in))
		for n := range c.in {
			assert.Equal(t, -1, skipString(c.in[:n], 0), "%q", c.in[:n])
		}
	}
	assert.Equal(t, -1, skipString([]byte{9, 1, 1}, 0))
	assert.Equal(t, -1, skipString([]byte{utf8String, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}, 0), "a negative length")
}

func TestVarint(t *testing.T) {
	for _, v := range []int64{0, 1, 127, 128, 16383, 16384, 1 << 31, 1<<56 - 1, 1 << 56, 1<<63 - 1, -1, -1 << 63} {
		d := integer(v)
		got, next := varint(d, 0)
		assert.Equal(t, v, got)
		assert.Equal(t, len(d), next)
		assert.Equal(t, len(d), skipVarint(d, 0))
		_, next = varint(d[:len(d)-1], 0)
		assert.Equal(t, -1, next)
		assert.Equal(t, -1, skipVarint(d[:len(d)-1], 0))
	}
	_, next := varint([]byte{1}, -1)
	assert.Equal(t, -1, next)
	assert.Equal(t, -1, skipVarint([]byte{1}, -1))
}

// TestWindow reads an event that is too large for the buffer.
func TestWindow(t *testing.T) {
	long := utf8Text(strings.Repeat("x", 3*bufferSize))
	parts := [][]byte{metadataOf(basicClasses()...)}
	var starts []int64
	for i := range int64(20_000) {
		parts = append(parts, basicEvent(i, 3, utf8Text("x"), 1))
		if i%5000 == 7 {
			parts = append(parts, basicEvent(i, 3, long, 1))
			starts = append(starts, i)
		}
		starts = append(starts, i)
	}
	in := header{}.chunkOf(append(parts, basicCheckpoint())...)
	r := made(in)
	assert.Equal(t, starts, read(r))
	assert.Equal(t, Damage{}, r.Damage())
}

// visit looks at all parts of a value up to a depth and returns their number.
func visit(v Value, depth int) (n int) {
	_, _, _, _, _ = v.Int(), v.Float(), v.Bool(), v.Text(), v.Nanos()
	n = 1
	if depth == 0 {
		return n
	}
	for _, inner := range v.Fields() {
		n += visit(inner, depth-1)
	}
	i := 0
	for inner := range v.Elements() {
		if i++; i > 100 {
			break
		}
		n += visit(inner, depth-1)
	}
	return n
}

func FuzzReader(f *testing.F) {
	f.Add(basicChunk())
	f.Add(slices.Concat(basicChunk(), header{state: 255}.chunkOf(metadataOf(basicClasses()...),
		basicEvent(1, 2, utf8Text("x"), 3))))
	f.Add(header{}.chunkOf(metadataOf(append(basicClasses(),
		class(60, "test.Tree", nil, field("inner", 60, array...)))...), sized(60, make([]byte, 9))))
	seeds, _ := filepath.Glob("testdata/*.jfr")
	for _, path := range seeds {
		d, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := made(in)
		n := 0
		for r.Scan() {
			n++
			e := r.Event()
			if e.Chunk() == nil || !e.Type().IsEvent() {
				t.Fatal("an event without a chunk or a type")
			}
			if n < 200 {
				_, _ = e.Thread(), e.Stack()
				for _, v := range e.Fields() {
					visit(v, 3)
				}
			}
		}
		if n*2 > len(in) {
			t.Fatalf("%d events in %d bytes", n, len(in))
		}
		if err := r.Err(); err != nil && errors.Is(err, io.EOF) {
			t.Fatal("the end is not an error")
		}
	})
}
