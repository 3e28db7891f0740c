package jfr

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
)

// safepointChunk returns a chunk with halves of safepoints. Each half is given as begin or end, time, duration and
// id.
func safepointChunk(startWall int64, halves ...[4]int64) []byte {
	classes := append(basicClasses(),
		class(60, "jdk.SafepointBegin", super, field("startTime", idLong), field("duration", idLong),
			field("safepointId", idLong)),
		class(61, "jdk.SafepointEnd", super, field("startTime", idLong), field("duration", idLong),
			field("safepointId", idLong)))
	parts := [][]byte{metadataOf(classes...)}
	for _, h := range halves {
		parts = append(parts, sized(60+h[0], integers(h[1:]...)))
	}
	d := header{}.chunkOf(parts...)
	for i := range 8 {
		d[32+i] = byte(startWall >> (56 - 8*i))
	}
	return d
}

func TestSafepoints(t *testing.T) {
	in := safepointChunk(0, [4]int64{0, 2000, 30, 1}, [4]int64{1, 2500, 10, 1}, [4]int64{1, 4000, 10, 2},
		[4]int64{0, 3000, 7, 2}, [4]int64{0, 9000, 7, 3})
	x := NewEvents(made(in), 4711, func(c *Chunk) Anchor {
		return Anchor{Ticks: c.Clock.StartTicks,
			MonoNanos: 1_000_000}
	})
	var got []event.Event
	for x.Scan() {
		got = append(got, *x.Event())
	}
	assert.Equal(t, []event.Event{
		{PID: 4711, Kind: event.Safepoint, Name: "safepoint", MonoNanos: 1_001_900, Nanos: 510, WaitNanos: 30},
		{PID: 4711, Kind: event.Safepoint, Name: "safepoint", MonoNanos: 1_002_900, Nanos: 1010, WaitNanos: 7},
	}, got)
}

func TestFindAnchor(t *testing.T) {
	const wall, mono = 1_700_000_000_000_000_000, 5_000_000_000
	end := [4]int64{1, 300, 0, 1}
	find := func(in []byte, ends ...int64) (Anchor, bool, bool) {
		return FindAnchor(made(in), wall, mono, func() []int64 { return ends })
	}
	a, exact, ok := find(safepointChunk(wall+123_456_789, end))
	assert.Equal(t, Anchor{Ticks: 100, MonoNanos: mono + 123_456_789}, a)
	assert.True(t, exact)
	assert.True(t, ok)
	a, exact, ok = find(safepointChunk(wall+123_000_000, end))
	assert.Equal(t, Anchor{Ticks: 100, MonoNanos: mono + 123_500_000}, a, "the middle of a millisecond")
	assert.False(t, exact)
	assert.True(t, ok)
	a, exact, _ = find(slices.Concat(safepointChunk(wall+123_000_000, end), safepointChunk(wall+123_000_000, end)))
	assert.Equal(t, mono+int64(123_500_000), a.MonoNanos)
	assert.False(t, exact)
	// The ticks were 100 at 123.8 ms, and the safepoints ended after that.
	a, exact, _ = find(safepointChunk(wall+123_000_000, [4]int64{1, 300, 0, 1}, [4]int64{1, 10_300, 0, 2},
		[4]int64{1, 30_300, 0, 3}),
		mono+123_800_200, mono+123_810_200, mono+123_830_200)
	assert.Equal(t, Anchor{Ticks: 100, MonoNanos: mono + 123_800_000 - logLate}, a)
	assert.True(t, exact)
	_, _, ok = find(nil)
	assert.False(t, ok)
}

func TestJavaClass(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"java/util/HashMap", "java.util.HashMap"}, {"[I", "int[]"}, {"[[Ljava/lang/String;", "java.lang.String[][]"},
		{"int", "int"}, {"", ""}, {"I", "I"},
		{"a/B$$Lambda/0x00007f", "a.B$$Lambda.0x00007f"},
	} {
		assert.Equal(t, c.want, javaClass(c.in))
	}
}

// TestLongNames checks that if many events refer to a long constant, it is not copied completely for each of them.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	parts := [][]byte{metadataOf(basicClasses()...),
		checkpointOf(0, constantPool{idString, [][]byte{slices.Concat(integer(5), utf8Text(long))}})}
	for i := range int64(20_000) {
		parts = append(parts, basicEvent(i, 3, []byte{pooledString, 5}, 1))
	}
	x := NewEvents(made(header{}.chunkOf(parts...)), 1, func(*Chunk) Anchor { return Anchor{} })
	total := 0
	for x.Scan() {
		for _, a := range x.Event().Args {
			total += len(a.Value)
		}
	}
	require.Less(t, total, 20_000*(maxName+20), fmt.Sprint(total))
	assert.Greater(t, total, 20_000*maxName)
}
