package rings

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// words returns the bytes of a file that consists of the words.
func words(w ...int64) []byte {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// file returns a file with a header and segments.
func file(segments ...[]byte) []byte {
	body := bytes.Join(segments, nil)
	head := words(magic, 4711, 1000, int64(headerSize+len(body)), 1, 2, 5000)
	return append(append(head, make([]byte, headerSize-len(head))...), body...)
}

// segment returns a segment with a head of 16 words and content.
func segment(head map[int]int64, content ...int64) []byte {
	h := make([]int64, headWords)
	for i, v := range head {
		h[i] = v
	}
	h[1] = int64(8 * (headWords + len(content)))
	return words(append(h, content...)...)
}

// piece returns a segment of kind 4 with segments, followed by unused words.
func piece(inner []byte, unused int) []byte {
	h := make([]int64, headWords)
	h[0], h[1] = 4, int64(8*headWords+len(inner)+8*unused)
	return append(append(words(h...), inner...), make([]byte, 8*unused)...)
}

func event(kind Kind, site, bci int, mono int64, identity uint32, tid int) []int64 {
	return []int64{mono, int64(kind)<<56 | int64(site)<<32 | int64(uint32(bci)),
		int64(uint64(identity)<<32 | uint64(uint32(tid)))}
}

func readAll(t *testing.T, in []byte) (records []any) {
	t.Helper()
	r := NewReader(bytes.NewReader(in), "probes-1.ring")
	for r.Scan() {
		records = append(records, r.Record())
	}
	require.NoError(t, r.Err())
	return records
}

func eventsOf(r *Ring) (events []Event) {
	for e := range r.Events() {
		events = append(events, e)
	}
	return events
}

func TestReader(t *testing.T) {
	var content []int64
	for _, e := range [][]int64{event(Entry, 7, 0, 500, 0, 12), event(Acquire, 8, -1, 300, 0xfedcba98, 12),
		event(Exit, 7, 0, 400, 0, 12)} {
		content = append(content, e...)
	}
	content = append(content, 0, 0, 0)                            // room for a fourth window
	name := int64(binary.LittleEndian.Uint64([]byte("worker-1"))) // a name without a zero byte in this word
	whole := segment(map[int]int64{0: 1, 2: 3, 3: 12, 4: 3, 5: 4, 8: name}, content...)
	turned := segment(map[int]int64{0: 1, 2: -1, 3: 0, 4: 5, 5: 2},
		append(event(Entry, 1, 0, 90, 0, 0), event(Entry, 1, 0, 80, 0, 0)...)...)
	calls := make([]int64, Buckets)
	calls[5], calls[Buckets-1] = 2, 1
	counted := segment(map[int]int64{0: 2, 2: 3, 3: 7, 4: 4, 5: 2, 6: 1, 7: 2e12, 8: 1e12}, calls...)
	records := readAll(t, file(whole, turned, piece(counted, 400),
		segment(map[int]int64{0: 3, 2: 3, 3: 12, 4: 1, 5: 1, 6: 777, 7: 9}, 100, 8<<56|9<<32|12, 150)))
	require.Len(t, records, 5)
	assert.Equal(t, &Header{PID: 4711, StartMonoNanos: 1000, Refused: 1, Uncounted: 2, StopMonoNanos: 5000}, records[0])

	ring := records[1].(*Ring)
	assert.Equal(t, []any{3, 12, "worker-1"}, []any{ring.Slot, ring.TID, ring.Thread})
	assert.Equal(t, []Event{{Entry, 7, 500, 0, 0, 12}, {Acquire, 8, 300, -1, 0xfedcba98, 12}, {Exit, 7, 400, 0, 0, 12}},
		eventsOf(ring))
	assert.Zero(t, ring.Dropped)

	ring = records[2].(*Ring)
	assert.Equal(t, -1, ring.Slot)
	assert.Equal(t, int64(3), ring.Dropped)
	events := eventsOf(ring)
	require.Len(t, events, 2)
	assert.Equal(t, []int64{80, 90}, []int64{events[0].MonoNanos, events[1].MonoNanos}, "the oldest comes first")

	c := records[3].(*Calls)
	assert.Equal(t, []int{3, 7}, []int{c.Slot, c.Site})
	assert.Equal(t, []int64{4, 2, 1, 2e12, 1e12, 2, 1},
		[]int64{c.Entries, c.Returns, c.Throws, c.Nanos, c.MaxNanos, c.Histogram[5], c.Histogram[Buckets-1]})

	assert.Equal(t, &Windows{Slot: 3, Spans: []Span{{12, 9, 100, 150}, {12, 9, 777, math.MaxInt64}}}, records[4])
}

// TestReaderBounds checks extreme values. A ring that is exactly full has lost nothing. Negative counts are read as
// 0. The number of a thread or a site that can't exist is read as -1.
func TestReaderBounds(t *testing.T) {
	full := segment(map[int]int64{0: 1, 3: math.MaxInt32 + 1, 4: 2, 5: 2},
		append(event(Entry, 1, 0, 80, 0, 0), event(Allocation, 1, 0, 90, 0, 0)...)...)
	odd := segment(map[int]int64{0: 1, 3: -1, 4: 2, 5: 2},
		append(event(0, 1, 0, 80, 0, 0), event(owner, 1, 0, 90, 0, 0)...)...)
	negative := segment(map[int]int64{0: 2, 3: math.MaxInt32, 4: -4, 5: -5, 6: -6, 7: -7, 8: -8},
		make([]int64, Buckets)...)
	none := segment(map[int]int64{0: 1, 4: -1, 5: 1}, event(Entry, 1, 0, 80, 0, 0)...)
	records := readAll(t, file(full, odd, negative, none, segment(map[int]int64{0: 9}),
		segment(map[int]int64{0: 3, 4: -1, 5: 1}, 0, 0, 0)))
	require.Len(t, records, 6)
	ring := records[1].(*Ring)
	assert.Equal(t, []int64{2, 0, -1}, []int64{ring.Written, ring.Dropped, int64(ring.TID)})
	assert.Len(t, eventsOf(ring), 2)
	ring = records[2].(*Ring)
	assert.Equal(t, -1, ring.TID)
	assert.Empty(t, eventsOf(ring), "there are no such kinds")
	assert.Equal(t, &Calls{Site: math.MaxInt32}, records[3])
	assert.Zero(t, records[4].(*Ring).Written)
	assert.Equal(t, &Windows{Spans: []Span{}}, records[5])
}

func TestReaderDamaged(t *testing.T) {
	ring := segment(map[int]int64{0: 1, 4: 1, 5: 1}, event(Entry, 1, 0, 90, 0, 0)...)
	huge := segment(map[int]int64{0: 1, 4: 1, 5: math.MaxInt32}, event(Entry, 1, 0, 90, 0, 0)...)
	whole := file(ring)
	const size = "p is damaged after byte 4224: a segment has an impossible size"
	sized := func(size int64) []byte {
		s := segment(map[int]int64{0: 1, 4: 1, 5: 1}, event(Entry, 1, 0, 90, 0, 0)...)
		binary.LittleEndian.PutUint64(s[8:], uint64(size))
		return file(s)
	}
	for _, c := range []struct {
		name, want string
		in         []byte
	}{
		{"empty", "p is damaged after byte 0: it ends too early", nil},
		{"other", "p is not a file of probes, or it is from another version of gasm", make([]byte, headerSize)},
		{"cut", "p is damaged after byte 4224: it ends too early", whole[:len(whole)-8]},
		{"capacity", "p is damaged after byte 4248: a ring is larger than its segment", file(huge)},
		{"no head", size, sized(8*headWords - 8)},
		{"odd", size, sized(8*headWords + 4)},
		{"beyond the file", size, sized(8 * (headWords + 4))},
		{"beyond its piece", "p is damaged after byte 4352: a segment has an impossible size",
			file(piece(sized(8 * (headWords + 4))[headerSize:], 0), ring)},
		{"calls", "p is damaged after byte 4232: the calls of a method are cut", file(segment(map[int]int64{0: 2}, 1))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(c.in), "p")
			for r.Scan() {
			}
			assert.EqualError(t, r.Err(), c.want)
		})
	}
}

// TestBuckets checks that the buckets adjoin one another and are not wider than documented.
func TestBuckets(t *testing.T) {
	end := int64(0)
	for i := range Buckets {
		lo, hi := BucketRange(i)
		require.Equal(t, end, lo)
		require.LessOrEqual(t, hi-lo, max(1, lo/16), "a sixteenth")
		require.Equal(t, i, Bucket(lo))
		require.Equal(t, i, Bucket(hi-1))
		end = hi
	}
	assert.Equal(t, int64(1)<<40, end)
	assert.Equal(t, Buckets-1, Bucket(math.MaxInt64))
	assert.Equal(t, 0, Bucket(-5))
}

// TestReadReport checks that a line that is too long counts as bad and does not end the reading. The last line has no
// line end, as if the JVM had been killed.
func TestReadReport(t *testing.T) {
	text := "site\t1\tmethod\tSvc\ttiny\t(I)I\twindow\tSvc::tiny\nstarted\nrefused\tSvc::*\tSvc::nat\tit is native\n" +
		"missing\tNo::x\tunseen\tNob\nerror\tno\nerror\t" + strings.Repeat("x", maxLine) + "\nstopped\t3\nwhat\n" +
		"object\tjava-4711.1.so\nobject\t../java-1.so\nsite\t2\tsdt\tSvc\tmain\t()V\t6,static\tSvc::*\nsite\t3\tsdt\tSvc\trun\t()V\t8\tSvc::*\n" +
		"site\t4\tsdt\tSvc\tx\t()V\t-\tSvc::*\nsite\t5\tsdt\tSvc\tx\t()V\t8,other\tSvc::*\nsite\t0\tmethod\tSvc\ttiny\t(I)I\t-\tSvc::tiny\nstopped\t1"
	rep, err := ReadReport(bytes.NewReader([]byte(text)), "probes-1.txt")
	require.NoError(t, err)
	assert.Equal(t, &Report{Object: "java-4711.1.so", Sites: []Site{{ID: 1, Kind: Method, Class: "Svc", Method: "tiny",
		Descriptor: "(I)I", Window: true, Probe: "Svc::tiny"},
		{ID: 2, Kind: SDT, Class: "Svc", Method: "main", Descriptor: "()V", First: 6, Static: true, Probe: "Svc::*"},
		{ID: 3, Kind: SDT, Class: "Svc", Method: "run", Descriptor: "()V", First: 8, Probe: "Svc::*"}},
		Refused: []Refusal{{"Svc::*", "Svc::nat", "it is native"}},
		Missing: []Miss{{"No::x", false, false, "Nob"}}, Errors: []string{"no"}, Started: true, Stopped: true,
		Restored: 3, Bad: 6}, rep)
}

func FuzzReader(f *testing.F) {
	f.Add(file(segment(map[int]int64{0: 1, 4: 5, 5: 1}, event(Entry, 1, 0, 90, 0, 0)...),
		segment(map[int]int64{0: 2}, make([]int64, Buckets)...)))
	f.Add(file(piece(segment(map[int]int64{0: 2}, make([]int64, Buckets)...), 16),
		segment(map[int]int64{0: 3, 4: 1, 5: 1, 6: 5}, 100, 8<<56, 150)))
	f.Fuzz(func(t *testing.T, in []byte) {
		for r := NewReader(bytes.NewReader(in), "fuzz"); r.Scan(); {
			switch x := r.Record().(type) {
			case *Ring:
				n := int64(0)
				for e := range x.Events() {
					n++
					assert.True(t, e.Kind >= Entry && e.Kind <= Allocation)
				}
				assert.LessOrEqual(t, n, x.Written)
				assert.LessOrEqual(t, x.Dropped, x.Written)
			case *Calls:
				assert.True(t, x.Entries >= 0 && x.Nanos >= 0)
			case *Windows:
				for _, s := range x.Spans {
					assert.Less(t, s.FromMonoNanos, s.ToMonoNanos)
				}
			}
		}
	})
}

func FuzzReport(f *testing.F) {
	f.Add([]byte("site\t1\tmethod\tSvc\ttiny\t(I)I\twindow\tSvc::tiny\nstarted\nstopped\t3\nwhat\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		rep, _ := ReadReport(bytes.NewReader(in), "fuzz")
		for _, s := range rep.Sites {
			assert.True(t, s.ID > 0 && s.ID <= maxSites)
		}
	})
}
