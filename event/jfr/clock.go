package jfr

import (
	"math"
	"math/bits"
	"slices"
)

// A Clock translates the ticks of a chunk. All chunks of one JVM have the same ticks: nanoseconds
// since its start by CLOCK_MONOTONIC, or those of the processor where JFR uses them.
type Clock struct {
	StartTicks     int64 // of the chunk
	StartWallNanos int64 // at the same moment, since 1970
	TicksPerSecond int64 // above 0
}

// Nanos translates a number of ticks, as the difference of two. It does not overflow: what is too
// long becomes the longest duration.
func (c Clock) Nanos(ticks int64) int64 {
	const second = 1_000_000_000
	if c.TicksPerSecond == second {
		return ticks
	}
	size := uint64(ticks)
	if ticks < 0 {
		size = -size
	}
	hi, lo := bits.Mul64(size, second)
	nanos := uint64(math.MaxInt64)
	if perSecond := uint64(c.TicksPerSecond); hi < perSecond {
		nanos, _ = bits.Div64(hi, lo, perSecond)
	}
	nanos = min(nanos, math.MaxInt64)
	if ticks < 0 {
		return -int64(nanos)
	}
	return int64(nanos)
}

// WallNanos translates a time in ticks into nanoseconds since 1970.
func (c Clock) WallNanos(ticks int64) int64 { return c.StartWallNanos + c.Nanos(ticks-c.StartTicks) }

// Coarse tells that the wall clock of the header has whole milliseconds, as that of JDK 8 and 11: times by
// [Clock.WallAnchor] are up to a millisecond early then, and [Clock.Align] mends that. They calculate it as a double, which is
// exact to 256 nanoseconds: 1795382187104999936.
func (c Clock) Coarse() bool { return (c.StartWallNanos+256)%1_000_000 <= 512 }

// An Anchor is one moment in a JVM's ticks and on CLOCK_MONOTONIC.
type Anchor struct {
	Ticks     int64
	MonoNanos int64
}

// WallAnchor makes an anchor of the chunk's start, given one moment on the wall clock and on
// CLOCK_MONOTONIC. It is as good as the header's wall clock: to a microsecond, or to a millisecond ([Clock.Coarse]).
func (c Clock) WallAnchor(wallNanos, monoNanos int64) Anchor {
	return Anchor{Ticks: c.StartTicks, MonoNanos: c.StartWallNanos - wallNanos + monoNanos}
}

// MonoNanos translates a time in ticks to CLOCK_MONOTONIC.
func (c Clock) MonoNanos(ticks int64, a Anchor) int64 { return a.MonoNanos + c.Nanos(ticks-a.Ticks) }

// alignWithin is how far a rough anchor may be off: the millisecond of JDK 11, and what the log is late.
const alignWithin = 2_000_000

// alignCluster is how far apart the differences of the same events may be, as the log and JFR have them.
const alignCluster = 20_000

// alignNear limits how many moments of the other clock are tried for each.
const alignNear = 8

// Align makes a better anchor of a rough one: by moments that are known in ticks, and other moments that are known on
// CLOCK_MONOTONIC, when many of them are the same. Both are ascending. Of the offsets on which most agree it takes the end of the
// first tenth, because on a busy machine the log is late, and never early; of a few the median. It is false when fewer than three
// agree. For JDK 11 the moments are those at which safepoints end: jdk.SafepointEnd begins 2 µs before the log has a line
// (-Xlog:safepoint), which no other pair of the two is so close to:
//
//	[41537184637410ns][safepoint] Leaving safepoint region
func (c Clock) Align(rough Anchor, ticks, monoNanos []int64) (a Anchor, ok bool) {
	var offsets []int64
	from := 0
	for _, t := range ticks {
		at := c.MonoNanos(t, rough)
		for from < len(monoNanos) && monoNanos[from] < at-alignWithin {
			from++
		}
		for i := from; i < min(len(monoNanos), from+alignNear) && monoNanos[i] <= at+alignWithin; i++ {
			offsets = append(offsets, monoNanos[i]-at)
		}
	}
	slices.Sort(offsets)
	lo, n := 0, 0 // of the most offsets that are close together
	for i, k := 0, 0; k < len(offsets); k++ {
		for offsets[k]-offsets[i] > alignCluster {
			i++
		}
		if k-i+1 > n {
			lo, n = i, k-i+1
		}
	}
	if n < 3 {
		return rough, false
	}
	at := n / 10
	if n < 10 { // then one by chance would count
		at = n / 2
	}
	rough.MonoNanos += offsets[lo+at]
	return rough, true
}
