package jfr

import (
	"math"
	"math/bits"
	"slices"
)

// A Clock converts the ticks of a chunk. The ticks of all chunks of one JVM are of the same clock: nanoseconds of
// CLOCK_MONOTONIC since the JVM's start, or the processor's time stamp counter if JFR uses it.
type Clock struct {
	StartTicks     int64 // at the chunk's start
	StartWallNanos int64 // the same moment in nanoseconds since 1970
	TicksPerSecond int64 // positive
}

// Nanos converts a duration in ticks to nanoseconds. It does not overflow: a duration that is too long becomes the
// longest possible one.
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

// WallNanos converts a time in ticks to nanoseconds since 1970.
func (c Clock) WallNanos(ticks int64) int64 { return c.StartWallNanos + c.Nanos(ticks-c.StartTicks) }

// Coarse reports whether the wall clock in the header is truncated to milliseconds, as in JDK 8 and 11. Times that are
// computed with [Clock.WallAnchor] are up to a millisecond early then; [Clock.Align] corrects them. These JDKs
// compute the wall clock as a double, whose error is up to 256 nanoseconds: 1795382187104999936.
func (c Clock) Coarse() bool { return (c.StartWallNanos+256)%1_000_000 <= 512 }

// An Anchor is the same moment in a JVM's ticks and on CLOCK_MONOTONIC.
type Anchor struct {
	Ticks     int64
	MonoNanos int64
}

// WallAnchor returns an anchor at the chunk's start, given one moment on the wall clock and on CLOCK_MONOTONIC. It is
// as precise as the wall clock in the header: to a microsecond, or to a millisecond if [Clock.Coarse].
func (c Clock) WallAnchor(wallNanos, monoNanos int64) Anchor {
	return Anchor{Ticks: c.StartTicks, MonoNanos: c.StartWallNanos - wallNanos + monoNanos}
}

// MonoNanos converts a time in ticks to CLOCK_MONOTONIC.
func (c Clock) MonoNanos(ticks int64, a Anchor) int64 { return a.MonoNanos + c.Nanos(ticks-a.Ticks) }

// alignWithin is the largest error of a rough anchor in ns: the millisecond of JDK 11, and the delay of the log.
const alignWithin = 2_000_000

// alignCluster is the largest difference, in ns, between two offsets that count as the same.
const alignCluster = 20_000

// alignNear limits how many moments of the other clock are compared with each moment.
const alignNear = 8

// Align returns a better anchor than rough. It compares moments in ticks with moments on CLOCK_MONOTONIC, many of
// which must be the same; both slices are sorted. It looks for the offset on which most of the pairs agree. On a busy
// machine the log is late, but it is never early; so Align takes the offset at the end of the first tenth of these
// pairs, or their median if there are fewer than ten. It returns false if fewer than three pairs agree.
//
// For JDK 11 the moments are the ends of safepoints. jdk.SafepointEnd begins 2 µs before HotSpot writes this line to
// its log (-Xlog:safepoint). No other event and line are so close to each other:
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
	lo, n := 0, 0 // start and length of the longest run of offsets that are close together
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
	if n < 10 { // then a single pair that agrees by chance would decide
		at = n / 2
	}
	rough.MonoNanos += offsets[lo+at]
	return rough, true
}
