package events

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/jfr"
)

// chunks returns the two chunks of a recording with allocation samples, as if they had begun at the given times and had
// lasted for a second.
func chunks(t *testing.T, starts ...time.Duration) (all [][]byte) {
	t.Helper()
	d, err := os.ReadFile("../../event/jfr/testdata/samples.jfr")
	require.NoError(t, err)
	headers, err := jfr.Headers(bytes.NewReader(d), int64(len(d)))
	require.NoError(t, err)
	require.Len(t, headers, len(starts))
	for i, h := range headers {
		c := bytes.Clone(d[h.Offset : h.Offset+h.Size])
		binary.BigEndian.PutUint64(c[40:], uint64(time.Second))
		binary.BigEndian.PutUint64(c[48:], uint64(starts[i].Seconds()*float64(h.Clock.TicksPerSecond)))
		all = append(all, c)
	}
	return all
}

func add(r *Reader, chunks ...[]byte) error {
	d := bytes.Join(chunks, nil)
	return r.Add(bytes.NewReader(d), int64(len(d)))
}

// TestDumps checks that each chunk counts once, although dumps overlap. The samples 3_000_000_000 and 9000 are the
// first ones of their threads, which began before the recording. The sample 40 is of a virtual thread. They count with
// no bytes.
func TestDumps(t *testing.T) {
	c := chunks(t, time.Hour, time.Hour+time.Second)
	var whole, parts, once Reader
	require.NoError(t, add(&whole, c...))
	sum := whole.Take(event.Alloc)
	require.NotNil(t, sum)
	assert.EqualValues(t, 7, sum.Count)
	assert.EqualValues(t, 70+500+600+80, sum.Value)
	assert.Nil(t, whole.Take(event.Alloc))
	assert.Nil(t, whole.Take(event.Lock))

	require.NoError(t, add(&parts, c[0]))
	first := *parts.Take(event.Alloc)
	assert.EqualValues(t, 4, first.Count)
	assert.EqualValues(t, 70+500, first.Value)
	require.NoError(t, add(&parts, c...))
	require.NoError(t, add(&parts, c...))
	second := *parts.Take(event.Alloc)
	assert.EqualValues(t, 3, second.Count)
	assert.EqualValues(t, 600+80, second.Value)
	require.NoError(t, add(&parts, c[1]))
	assert.Nil(t, parts.Take(event.Alloc))

	require.NoError(t, add(&once, c[0]))
	require.NoError(t, add(&once, c[1]), "the JVM has removed the first chunk")
	assert.EqualValues(t, 7, once.Take(event.Alloc).Count)
}

// TestMissing checks that missing and damaged chunks are reported, and that what can be read is counted.
func TestMissing(t *testing.T) {
	c := chunks(t, time.Hour, time.Hour+3*time.Second)
	var r Reader
	require.NoError(t, add(&r, c[0]))
	assert.EqualError(t, add(&r, c[1]), "the events of 2.0 s are missing, because Flight Recorder has removed them")
	assert.EqualValues(t, 7, r.Take(event.Alloc).Count)

	for text, dump := range map[string][][]byte{
		"a chunk is not finished, or the file is cut": {c[0], c[1][:len(c[1])-5]},
		"the header of a chunk is cut off":            {c[0], c[1][:20]},
		"are not a chunk":                             {c[0], []byte("hello")},
	} {
		r = Reader{}
		require.ErrorContains(t, add(&r, dump...), text)
		assert.EqualValues(t, 4, r.Take(event.Alloc).Count)
	}
	r = Reader{}
	require.ErrorContains(t, add(&r, []byte("hello")), "are not a chunk")
	assert.Nil(t, r.Take(event.Alloc))
}

// FuzzDumps checks that a hostile dump can't make the Reader panic, hang or report more events than it has bytes.
func FuzzDumps(f *testing.F) {
	for _, name := range []string{"samples", "open", "lost"} {
		d, err := os.ReadFile("../../event/jfr/testdata/" + name + ".jfr")
		require.NoError(f, err)
		f.Add(d, len(d)/2)
	}
	f.Fuzz(func(t *testing.T, d []byte, cut int) {
		var r Reader
		_ = add(&r, d[:min(max(cut, 0), len(d))])
		_ = add(&r, d)
		for kind := range sampleTypes {
			sum := r.Take(kind)
			if sum == nil {
				continue
			}
			assert.LessOrEqual(t, sum.Count, int64(2*len(d)))
			assert.GreaterOrEqual(t, sum.Value, int64(0))
			text, err := sum.Pprof(kind, time.Unix(1, 0), time.Unix(2, 0), "1")
			require.NoError(t, err)
			_, err = pprof.ParseData(text)
			require.NoError(t, err)
		}
	})
}

func lockEvent(nanos int64, cut bool, frames ...event.Frame) *event.Event {
	return &event.Event{Kind: event.Lock, Nanos: nanos, Frames: frames, Truncated: cut}
}

// TestPprof checks what is in a profile: equal stacks are one sample, and marks stand in place of what is missing.
func TestPprof(t *testing.T) {
	run := event.Frame{Method: "acme.Shop$$Lambda$72+0x00007fb770000c58.1309552426::run"}
	get := event.Frame{Method: "acme.Pool::get", Line: 40, BCI: 1}
	other := event.Frame{Method: "acme.Pool::get", Line: 40, BCI: 9}
	s := newSum()
	for _, e := range []*event.Event{lockEvent(10, false, get, run), lockEvent(20, false, other, run),
		lockEvent(40, true, get, run), lockEvent(80, false), lockEvent(-5, false, event.Frame{}),
		lockEvent(maxValue, false, get)} {
		s.add(s.stack(e), 1, e.Nanos)
	}
	s.add(0, 3, 5) // there was no room for its stack
	from := time.Unix(1_700_000_000, 0)
	text, err := s.Pprof(event.Lock, from, from.Add(15*time.Second), "1.2")
	require.NoError(t, err)
	p, err := pprof.ParseData(text)
	require.NoError(t, err)
	require.NoError(t, p.CheckValid())
	assert.Equal(t, from.UnixNano(), p.TimeNanos)
	assert.EqualValues(t, 15*time.Second, p.DurationNanos)
	var got []string
	for _, x := range p.Sample {
		var frames []string
		for _, l := range x.Location {
			frames = append(frames, fmt.Sprintf("%s:%d", l.Line[0].Function.Name, l.Line[0].Line))
		}
		got = append(got, fmt.Sprintf("%s %d", strings.Join(frames, " "), x.Value))
	}
	const lambda = "acme.Shop$$Lambda$72/0x00007fb770000c58::run:0"
	assert.Equal(t, []string{"[other stacks]:0 [3 0]", "acme.Pool::get:40 " + lambda + " [2 30]",
		"acme.Pool::get:40 " + lambda + " [cut]:0 [1 40]", "[no stack]:0 [1 80]", "[unresolved]:0 [1 0]",
		fmt.Sprintf("acme.Pool::get:40 [1 %d]", maxValue-150)}, got)
	assert.EqualValues(t, maxValue, s.Value)
	assert.Equal(t, "acme/Pool.java", p.Function[1].Filename)
}

// TestManyStacks checks that stacks beyond the limit are added up without frames.
func TestManyStacks(t *testing.T) {
	s := newSum()
	for i := range maxStacks + 10 {
		s.add(s.stack(lockEvent(1, false, event.Frame{Method: "A::f", Line: i})), 1, 1)
	}
	assert.Len(t, s.stacks, maxStacks)
	assert.EqualValues(t, 11, s.stacks[0].count)
	assert.EqualValues(t, maxStacks+10, s.Count)

	s = newSum()
	long := strings.Repeat("x", maxText/4)
	for i := range 10 {
		s.add(s.stack(lockEvent(1, false, event.Frame{Method: long, Line: i})), 1, 1)
	}
	assert.Len(t, s.stacks, 1+4)
	assert.EqualValues(t, 6, s.stacks[0].count)
}

// TestManyAllocations checks that allocations beyond the limit are counted.
func TestManyAllocations(t *testing.T) {
	p := part{heap: newSum(), allocations: make([]allocation, maxAllocations)}
	p.add(&event.Event{Kind: event.Alloc}, nil, false)
	assert.Equal(t, 1, p.left)
	assert.Len(t, p.allocations, maxAllocations)
}
