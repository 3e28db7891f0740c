package rings

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A growingFile is a JVM's file while the JVM writes it. Each ReadAt calls before first.
type growingFile struct {
	bytes  []byte
	before func(offset int64)
}

func (f *growingFile) ReadAt(b []byte, offset int64) (int, error) {
	if f.before != nil {
		f.before(offset)
	}
	return bytes.NewReader(f.bytes).ReadAt(b, offset)
}

func (f *growingFile) set(offset, word int64) {
	binary.LittleEndian.PutUint64(f.bytes[offset:], uint64(word))
}

// window returns what the JVM writes for the nth window of a thread.
func window(n int64) []int64 { return []int64{1000 + n, int64(inside)<<56 | 9<<32 | 12, 1001 + n} }

func span(n int64) Span {
	return Span{TID: 12, Site: 9, FromMonoNanos: 1000 + n, ToMonoNanos: 1001 + n}
}

// write writes the windows [from, to) into a ring with the given capacity. segment is the offset of the ring's
// segment.
func (f *growingFile) write(segment, capacity, from, to int64) {
	for n := from; n < to; n++ {
		for i, w := range window(n) {
			f.set(segment+8*(headWords+3*(n%capacity)+int64(i)), w)
		}
	}
	f.set(segment+8*4, to)
}

// ringOf returns the segment of a ring without windows.
func ringOf(capacity int) []byte {
	return segment(map[int]int64{0: 3, 2: 1, 3: 12, 5: int64(capacity)}, make([]int64, 3*capacity)...)
}

// written returns the windows that a Drain writes.
func written(t *testing.T, take func(io.Writer) error) *Windows {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, take(&out))
	w, err := ReadDrained(&out)
	require.NoError(t, err)
	return w
}

// taken returns the windows that a Drain writes now. It calls Take twice to get the newest ones, too.
func taken(t *testing.T, d *Drain) *Windows {
	t.Helper()
	w := written(t, d.Take)
	second := written(t, d.Take)
	return &Windows{Spans: append(w.Spans, second.Spans...), Dropped: w.Dropped + second.Dropped}
}

// An endlessFile is a sparse file of any size that has the same segment again and again.
type endlessFile struct {
	header, segment []byte
	reads           int
}

func (f *endlessFile) ReadAt(b []byte, offset int64) (int, error) {
	f.reads++
	for i := range b {
		if at := offset + int64(i); at < headerSize {
			b[i] = f.header[at]
		} else {
			b[i] = f.segment[(at-headerSize)%int64(len(f.segment))]
		}
	}
	return len(b), nil
}

// TestDrainEndless: a JVM can make its file as large as its disk allows, or larger, with any number of rings.
func TestDrainEndless(t *testing.T) {
	f := &endlessFile{header: file()[:headerSize], segment: ringOf(1)}
	binary.LittleEndian.PutUint64(f.header[8*3:], 1<<40)
	d := NewDrain(f)
	assert.ErrorContains(t, d.Take(io.Discard), "the file of the probes is damaged at byte ")
	assert.LessOrEqual(t, f.reads, maxSegments+2)
	assert.Len(t, d.rings, maxRings)

	f.segment = ringOf(1 << 10)
	f.reads, d = 0, NewDrain(f)
	require.NoError(t, d.Take(io.Discard))
	assert.LessOrEqual(t, f.reads, MaxFile/len(f.segment)+maxRings+2)
	f.reads = 0
	require.NoError(t, d.Take(io.Discard))
	assert.LessOrEqual(t, f.reads, maxRings+1)
}

// TestDrain reads windows from a ring of four while it is being overwritten. The oldest window of a full ring may be
// overwritten at any time, so it counts as lost.
func TestDrain(t *testing.T) {
	const first = headerSize + 8*headWords // after a segment of another kind
	f := &growingFile{bytes: file(segment(map[int]int64{0: 1}), ringOf(4))}
	d := NewDrain(f)
	assert.Equal(t, &Windows{}, taken(t, d), "none yet")
	f.write(first, 4, 0, 2)
	assert.Equal(t, &Windows{Spans: []Span{span(0), span(1)}}, taken(t, d))
	assert.Equal(t, &Windows{}, taken(t, d), "nothing new")
	f.write(first, 4, 2, 5)
	assert.Equal(t, &Windows{Spans: []Span{span(2), span(3), span(4)}}, taken(t, d), "around the end")
	f.write(first, 4, 5, 12)
	assert.Equal(t, &Windows{Spans: []Span{span(9), span(10), span(11)}, Dropped: 4}, taken(t, d), "5 to 8 are lost")

	// Two more windows are written between reading the windows and reading their number again.
	f.write(first, 4, 12, 15)
	numbers := 0
	f.before = func(offset int64) {
		if offset == first {
			if numbers++; numbers == 2 {
				f.write(first, 4, 15, 17)
			}
		}
	}
	assert.Equal(t, &Windows{Dropped: 2}, written(t, d.Take),
		"12 and 13 may have been written over, and 14 is the newest")
	f.before = nil
	assert.Equal(t, &Windows{Spans: []Span{span(14), span(15), span(16)}}, taken(t, d))
}

// TestDrainNewest checks that the newest windows are left for the next Take, or for End.
func TestDrainNewest(t *testing.T) {
	const first = headerSize
	f := &growingFile{bytes: file(ringOf(16))}
	d := NewDrain(f)
	f.write(first, 16, 0, 3)
	assert.Empty(t, written(t, d.Take).Spans, "a quarter of the ring may not be as it seems")
	f.write(first, 16, 3, 9)
	assert.Equal(t, []Span{span(0), span(1), span(2), span(3), span(4)}, written(t, d.Take).Spans)
	assert.Equal(t, []Span{span(5), span(6), span(7), span(8)}, written(t, d.Take).Spans,
		"they have been there for a while")
	f.write(first, 16, 9, 11)
	assert.Equal(t, []Span{span(9), span(10)}, written(t, d.End).Spans)
	assert.Empty(t, written(t, d.End).Spans)
}

// TestDrainThreads checks rings that are added later or are only partly visible at first.
func TestDrainThreads(t *testing.T) {
	const first = headerSize
	f := &growingFile{bytes: file(ringOf(4))}
	d := NewDrain(f)
	second := int64(len(f.bytes))
	f.bytes = append(f.bytes, ringOf(2)...)
	f.set(24, second) // not in use yet
	f.write(second, 2, 0, 1)
	assert.Equal(t, &Windows{}, taken(t, d))
	f.set(24, int64(len(f.bytes)))
	for word, value := range map[int64]int64{0: 3, 1: 8 * (headWords + 6), 5: 2} { // the kind, the size, the capacity
		f.set(second+8*word, 0)
		assert.Equal(t, &Windows{}, taken(t, d), "word %d", word)
		f.set(second+8*word, value)
	}
	f.write(first, 4, 0, 1)
	assert.Equal(t, &Windows{Spans: []Span{span(0), span(0)}}, taken(t, d))
}

// TestDrainDamaged checks that a damaged segment is reported, or is not treated as a ring.
func TestDrainDamaged(t *testing.T) {
	assert.Equal(t, &Windows{}, taken(t, NewDrain(bytes.NewReader(nil))), "the JVM is about to write it")
	for name, head := range map[string]map[int]int64{"too large": {0: 3, 4: 1, 5: 2},
		"no power of two": {0: 3, 4: 1, 5: 3}, "none": {0: 3, 4: 1}} {
		content := window(0)
		if name == "no power of two" {
			content = make([]int64, 9)
		}
		assert.Equal(t, &Windows{}, taken(t, NewDrain(bytes.NewReader(file(segment(head, content...))))), name)
	}
	for name, size := range map[string]int64{"none": 0, "no head": 8*headWords - 8, "odd": 8*headWords + 1,
		"huge": maxSegment + 8} {
		f := &growingFile{bytes: file(segment(map[int]int64{0: 1}), ringOf(4))}
		f.set(headerSize+8*headWords+8, size)
		assert.EqualError(t, NewDrain(f).End(io.Discard), "the file of the probes is damaged at byte 4224", name)
	}
	broken := errors.New("broken")
	w, err := ReadDrained(io.MultiReader(bytes.NewReader(words(append(window(7), 1)...)), iotest.ErrReader(broken)))
	assert.Equal(t, []Span{span(7)}, w.Spans)
	assert.ErrorIs(t, err, broken)
}

// TestReadDrained checks that impossible windows are left out: those without a time or of another kind, and numbers
// of lost windows that are too large.
func TestReadDrained(t *testing.T) {
	text := words(append(append(window(1), 0, 0, 3, 5, int64(inside)<<56, 5, 6, 7<<56, 8, 0, 1, 5, 1, 0, 5, 0, 0, 0, 0,
		0, -1), append([]int64{0, 0, 4}, window(2)...)...)...)
	w, err := ReadDrained(bytes.NewReader(append(text, 1, 2, 3)))
	require.NoError(t, err)
	assert.Equal(t, &Windows{Spans: []Span{span(1), span(2)}, Dropped: 7}, w)

	// Many windows are read in pieces, and the last one is cut off.
	var many []int64
	for n := range int64(1030) {
		many = append(many, window(n)...)
	}
	w, err = ReadDrained(bytes.NewReader(words(append(many, 1000)...)))
	require.NoError(t, err)
	require.Len(t, w.Spans, 1030)
	assert.Equal(t, []Span{span(0), span(1023), span(1024), span(1029)},
		[]Span{w.Spans[0], w.Spans[1023], w.Spans[1024], w.Spans[1029]})
}
