package jfr

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClock(t *testing.T) {
	nanos := Clock{StartTicks: 1000, StartWallNanos: 1_700_000_000_123_456_789, TicksPerSecond: 1_000_000_000}
	tsc := Clock{StartTicks: 1000, StartWallNanos: 5_000_000, TicksPerSecond: 2_400_000_000}
	for _, c := range []struct {
		clock       Clock
		ticks, want int64
	}{
		{nanos, 0, 0},
		{nanos, -7, -7},
		{nanos, math.MaxInt64, math.MaxInt64},
		{tsc, 24, 10},
		{tsc, -24, -10},
		{tsc, 2_400_000_000 * 86400 * 365, 86400 * 365 * 1_000_000_000}, // more than 64 bits in between
		{tsc, 3, 1},
		{Clock{TicksPerSecond: 1000}, math.MaxInt64, math.MaxInt64}, // too long
		{Clock{TicksPerSecond: 1000}, math.MinInt64, -math.MaxInt64},
	} {
		assert.Equal(t, c.want, c.clock.Nanos(c.ticks), "%d ticks at %d a second", c.ticks, c.clock.TicksPerSecond)
	}
	assert.Equal(t, int64(1_700_000_000_123_456_799), nanos.WallNanos(1010))
	assert.False(t, nanos.Coarse())
	assert.True(t, tsc.Coarse())
	a := tsc.WallAnchor(3_000_000, 40_000_000)
	assert.Equal(t, int64(42_000_000), tsc.MonoNanos(1000, a))
	assert.Equal(t, int64(42_000_010), tsc.MonoNanos(1024, a))
}

func TestMedianAnchor(t *testing.T) {
	c := Clock{TicksPerSecond: 1_000_000_000}
	_, ok := c.MedianAnchor(nil)
	assert.False(t, ok)
	a, ok := c.MedianAnchor([]Anchor{{100, 5100}, {200, 5201}, {300, 9000}, {400, 5400}, {500, 5502}})
	require.True(t, ok)
	assert.Equal(t, int64(6001), c.MonoNanos(1000, a))
}
