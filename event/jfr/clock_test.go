package jfr

import (
	"math"
	"slices"
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
		{tsc, 2_400_000_000 * 86400 * 365, 86400 * 365 * 1_000_000_000}, // an intermediate result of more than 64 bits
		{tsc, 3, 1},
		{Clock{TicksPerSecond: 1000}, math.MaxInt64, math.MaxInt64}, // too long for an int64
		{Clock{TicksPerSecond: 1000}, math.MinInt64, -math.MaxInt64},
	} {
		assert.Equal(t, c.want, c.clock.Nanos(c.ticks), "%d ticks at %d a second", c.ticks, c.clock.TicksPerSecond)
	}
	assert.Equal(t, int64(1_700_000_000_123_456_799), nanos.WallNanos(1010))
	assert.False(t, nanos.Coarse())
	assert.True(t, tsc.Coarse())
	assert.True(t, Clock{StartWallNanos: 1795382187104999936}.Coarse())
	assert.True(t, Clock{StartWallNanos: 1795382206230000128}.Coarse())
	assert.False(t, Clock{StartWallNanos: 1795382206230000528}.Coarse())
	a := tsc.WallAnchor(3_000_000, 40_000_000)
	assert.Equal(t, int64(42_000_000), tsc.MonoNanos(1000, a))
	assert.Equal(t, int64(42_000_010), tsc.MonoNanos(1024, a))
}

func TestAlign(t *testing.T) {
	c := Clock{TicksPerSecond: 1_000_000_000}
	var ticks, mono []int64
	for i := range int64(50) {
		ticks = append(ticks, i*1_500_000+i*i*1000)
		if i%3 > 0 { // the log does not have all of them
			mono = append(mono, ticks[i]+7_000_000_000+i%5*1000)
		}
		mono = append(mono, ticks[i]+7_000_700_000+i*7919%600_000) // and has others
	}
	slices.Sort(mono)
	for _, off := range []int64{-1_000_000, 0, 999_000} {
		a, ok := c.Align(Anchor{Ticks: 0, MonoNanos: 7_000_000_000 + off}, ticks, mono)
		require.True(t, ok)
		assert.InDelta(t, 7_000_000_000, a.MonoNanos, 1000, "the log is late by 0 to 4 µs: by the least")
	}
	rough := Anchor{Ticks: 5, MonoNanos: 6}
	for _, none := range [][]int64{nil, {1, 2, 3}} {
		a, ok := c.Align(rough, none, nil)
		assert.False(t, ok)
		assert.Equal(t, rough, a)
	}
}
