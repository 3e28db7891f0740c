package jfr

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filled repeats a piece until it has some megabytes.
func filled(piece []byte) []byte { return bytes.Repeat(piece, 4<<20/len(piece)) }

// TestBounded reads artificial recordings that try to make the Reader take as much memory as possible. All that is
// allocated while one of them is read is bounded by its size.
func TestBounded(t *testing.T) {
	metadata := metadataOf(basicClasses()...)
	names := slices.Concat(utf8Text("class"), utf8Text("id"))
	var constants, frames [][]byte
	for k := range int64(1 << 20) {
		constants = append(constants, append(integer(k), emptyString))
	}
	for k := range int64(1000) {
		frames = append(frames, slices.Concat(integer(k+1), []byte{1}, integer(2000), bytes.Repeat([]byte{1, 2}, 2000)))
	}
	var stacks [][]byte
	for k := range int64(1000) {
		stacks = append(stacks, sized(idEvent, integers(k, 0, 8, k+1, 1), []byte{emptyString}, integer(1),
			make([]byte, 8)))
	}
	ones := filled([]byte{emptyString})
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"constants", header{}.chunkOf(metadata, checkpointOf(0, constantPool{idString, constants}),
			basicEvent(1, 1, []byte{pooledString, 7}, 1))},
		{"strings of the metadata", header{}.chunkOf(sized(0, integers(1, 0, 7, int64(len(ones))), ones))},
		{"elements", header{}.chunkOf(sized(0, integers(1, 0, 7, 2), names, integers(0, 0, 1<<20), filled(make([]byte, 3))))},
		{"attributes", header{}.chunkOf(sized(0, integers(1, 0, 7, 2), names, integers(0, 2<<20), filled(make([]byte, 2))))},
		{"checkpoints", header{}.chunkOf(metadata, filled(checkpointOf(0)))},
		{"metadata", header{}.chunkOf(metadata, filled(sized(0, integers(5, 0, 0, 0, 0))))},
		{"stacks", header{}.chunkOf(metadata, checkpointOf(0, constantPool{idStack, frames}), slices.Concat(stacks...))},
		{"chunks", filled(header{}.chunkOf(metadata))},
		{"magics", filled([]byte("FLR\x00\x00\x02"))},
		{"magics in a chunk", header{state: 1}.chunkOf(metadata, filled([]byte("FLR\x00\x00\x02")))},
		{"events of no type", header{}.chunkOf(metadata, filled([]byte{2, 99}))},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			x := NewEvents(made(c.in), 1, func(*Chunk) Anchor { return Anchor{} })
			for x.Scan() {
				_ = x.r.Event().Stack()
			}
			runtime.ReadMemStats(&after)
			require.NoError(t, x.r.Err())
			ratio := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(c.in))
			t.Logf("%.1f bytes for each", ratio)
			assert.Less(t, ratio, 120.0, "a chunk of a kilobyte has maps of 13 types, which take the most")
		})
	}
}
