package codemap

import (
	"testing"

	"github.com/stretchr/testify/assert"

	pa "github.com/gasm-profiler/gasm/printassembly"
)

func TestUnprinted(t *testing.T) {
	blobs := []pa.Blob{
		{Kind: pa.Interpreter, Lo: 100, Hi: 200},
		{Kind: pa.Stub, Lo: 300, Hi: 400},
		{Kind: pa.Stub, Lo: 320, Hi: 330}, // a stub in a stub
		{Kind: pa.NMethod, Lo: 500, Hi: 600},
		{Kind: pa.RuntimeBlob, Lo: 700, Hi: 800},
		{Kind: pa.Stub, Lo: 800, Hi: 900},
		{Kind: pa.Stub, Lo: 950, Hi: 990},
		{Kind: pa.NMethod, Lo: 890, Hi: 900}, // a method was at the end of the stub once
		{Kind: pa.Stub, Lo: 20, Hi: 20},      // without a range
	}
	m := New(blobs)
	for pc := range uint64(1100) {
		i, got := m.FindUnprinted(pc)
		assert.Equal(t, pc >= 200 && pc < 300, got, "%d", pc)
		if got {
			assert.Equal(t, pa.Unprinted, m.Blob(i).Kind)
			assert.False(t, m.Reused(i))
		}
	}
}

func TestBeyond(t *testing.T) {
	m := New([]pa.Blob{{Kind: pa.Stub, Lo: 1000, Hi: 1100}, {Kind: pa.NMethod, Lo: 1200, Hi: 1400}})
	// The range of 600 bytes is [800, 1400) at the lowest, [1000, 1600) at the highest.
	for pc, beyond := range map[uint64]bool{0: true, 799: true, 800: false, 1150: false, 1599: false, 1600: true,
		1 << 63: true} {
		assert.Equal(t, beyond, m.Beyond(pc, 600), "%d", pc)
	}
	assert.False(t, m.Beyond(5000, 300), "a range that can't hold the blobs says nothing")
	assert.False(t, New(nil).Beyond(5000, 600), "and so does a log without blobs")
}
