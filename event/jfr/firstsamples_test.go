package jfr

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// The threads of sampledRecording, by the keys of their constants.
const (
	ranBefore  = 1 + iota
	begunThere // started during the recording
	virtual
	ofTheJVM // an internal thread of the JVM, without a Java id
)

// sampledChunk returns a chunk with allocation samples and starts of threads.
func sampledChunk(events ...[]byte) []byte {
	threads := constantPool{idThread, [][]byte{
		slices.Concat(integer(ranBefore), utf8Text("java"), integer(4711), utf8Text("main"), integer(1)),
		slices.Concat(integer(begunThere), utf8Text("java"), integer(4712), utf8Text("worker"), integer(30)),
		slices.Concat(integer(virtual), utf8Text(""), integer(0), utf8Text("request"), integer(31)),
		slices.Concat(integer(ofTheJVM), utf8Text("C2"), integer(4714), []byte{nullString}, integer(0)),
	}}
	classes := append(basicClasses(),
		class(60, "jdk.ObjectAllocationSample", super, field("startTime", idLong),
			field("eventThread", idThread, pooled...), field("weight", idLong)),
		class(61, "jdk.ThreadStart", super, field("startTime", idLong), field("eventThread", idThread, pooled...),
			field("thread", idThread, pooled...)))
	parts := append([][]byte{metadataOf(classes...), checkpointOf(0, threads)}, events...)
	d := header{}.chunkOf(parts...)
	binary.BigEndian.PutUint64(d[32:], 1_700_000_000_000_123_457) // not rounded to milliseconds
	return d
}

func sample(start, thread, weight int64) []byte { return sized(60, integers(start, thread, weight)) }

// sampledRecording returns a recording of two chunks. Its events are not in the order of their times.
func sampledRecording() []byte {
	return slices.Concat(
		sampledChunk(sample(5000, ranBefore, 70), sample(2000, ranBefore, 3_000_000_000), sample(3000, begunThere, 500),
			sized(61, integers(2500, begunThere, begunThere)), sample(3500, virtual, 40)),
		sampledChunk(sample(6000, begunThere, 600), sample(7000, ranBefore, 80), sample(7500, ofTheJVM, 9000)))
}

// TestFirstSamples checks that the first sample of each thread is found by its time, over all chunks. Threads that
// started during the recording and virtual threads have no such sample. Tests of cmd/gasm use testdata/samples.jfr,
// too.
func TestFirstSamples(t *testing.T) {
	gasmtest.Golden(t, "samples.jfr", sampledRecording())
	x := NewEvents(made(sampledRecording()), 1, func(c *Chunk) Anchor { return Anchor{Ticks: c.Clock.StartTicks} })
	var firsts FirstSamples
	var weights []int64
	for x.Scan() {
		firsts.See(x, len(weights))
		weights = append(weights, x.Event().Bytes)
	}
	assert.Equal(t, []int64{70, 3_000_000_000, 500, 0, 40, 600, 80, 9000}, weights)
	numbers := firsts.Numbers()
	slices.Sort(numbers)
	assert.Equal(t, []int{1, 7}, numbers)
}

// TestFirstSamplesOfParts checks that a thread has no first sample in a part of the recording if an earlier part has
// its start or a sample of it, also if there have been very many threads since.
func TestFirstSamplesOfParts(t *testing.T) {
	var firsts FirstSamples
	part := func(events ...[]byte) (numbers []int) {
		x := NewEvents(made(sampledChunk(events...)), 1, func(*Chunk) Anchor { return Anchor{} })
		for n := 0; x.Scan(); n++ {
			firsts.See(x, n)
		}
		numbers = firsts.Numbers()
		firsts.NextPart()
		return numbers
	}
	assert.Equal(t, []int{0}, part(sample(1, ranBefore, 70), sized(61, integers(2, begunThere, begunThere))))
	assert.Empty(t, part(sample(3, ranBefore, 70), sample(4, begunThere, 70)))
	assert.Empty(t, part())
	assert.Equal(t, []int{1}, part(sample(5, ranBefore, 70), sample(6, ofTheJVM, 70)))
	for id := range int64(maxKnown) {
		firsts.know(1000 + id)
	}
	assert.Empty(t, part(sample(7, ranBefore, 70)), "it is in the older part, and moves to the newer one")
	for id := range int64(maxKnown) {
		firsts.know(100_000 + id)
	}
	assert.Empty(t, part(sample(8, ranBefore, 70)))
	assert.Equal(t, []int{0}, part(sample(9, begunThere, 70)), "it was forgotten")
	assert.LessOrEqual(t, len(firsts.known)+len(firsts.older), 2*maxKnown)
}
