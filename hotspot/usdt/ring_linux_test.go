package usdt

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRing checks that a ring's records are read in the order in which they were begun, up to one that
// is not whole yet, and that the program sees how far gasm has read.
func TestRing(t *testing.T) {
	r := &ring{memory: make([]byte, firstSlot+4*16), slots: 4, size: 16}
	write := func(n, value uint64) {
		at := firstSlot + int(n)%r.slots*r.size
		*r.word(at + 8), *r.word(at) = value, n+1
	}
	read := func() (values []uint64) {
		r.read(func(record []byte) { values = append(values, wordOf(record, 0)) })
		return values
	}
	write(0, 10)
	write(2, 12) // while another processor writes the second record
	assert.Equal(t, []uint64{10}, read())
	assert.Equal(t, uint64(1), *r.word(readAt))
	assert.Empty(t, read())
	write(1, 11)
	write(3, 13)
	write(4, 14)
	assert.Equal(t, []uint64{11, 12, 13, 14}, read())
	assert.Equal(t, uint64(5), *r.word(readAt))
	*r.word(lostAt) = 7
	assert.Equal(t, int64(7), r.lost())
}
