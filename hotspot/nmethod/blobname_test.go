package nmethod

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

// TestIsBlob looks for blobs at the start of every segment of a code heap. When HotSpot has freed a blob and made
// another that covers a part of it, the header before the old blob may remain, and say that it is used.
func TestIsBlob(t *testing.T) {
	const segment = 64
	j := newFakeJVM(17)
	c := j.copier(t)
	at := func(i int) uint64 { return j.blob + uint64(i*segment) }
	for i := range 6 { // the segments of the blob
		j.Data[at(i)-vmtest.Base-blockHeaderSize+blockUsedOffset] = 1
		assert.Equal(t, i == 0, c.isBlob(at(i)), "segment %d", i)
	}
	assert.False(t, c.isBlob(at(6)), "a free block")
	assert.False(t, c.isBlob(at(7)), "the rest of a free block")
}
