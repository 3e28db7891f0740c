package jfr

import (
	"math"
	"math/bits"
	"slices"
)

// A Clock converts the ticks of a chunk to other times. All chunks of one JVM have the same kind of ticks: nanoseconds
// of CLOCK_MONOTONIC since the JVM's start, or the CPU's time stamp counter if JFR uses that.
type Clock struct {
	StartTicks     int64 // the chunk's start, in ticks
	StartWallNanos int64 // the same moment on the wall clock, in nanoseconds since 1970
	TicksPerSecond int64 // positive
}

// Nanos converts a duration in ticks to nanoseconds. It does not overflow: if the result is out of range, it returns
// MaxInt64 or -MaxInt64.
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

// Coarse reports whether the wall clock in the header is truncated to milliseconds, as in JDK 8 and 11. Then times that
// are computed with [Clock.WallAnchor] are up to a millisecond early. [Clock.Align] corrects them. These JDKs compute
// the wall clock in floating point (double), so there is also a rounding error of up to 256 nanoseconds. For example,
// the clock may be 1795382187104999936 instead of 1795382187105000000.
func (c Clock) Coarse() bool { return (c.StartWallNanos+256)%1_000_000 <= 512 }

// An Anchor relates a JVM's ticks to CLOCK_MONOTONIC: it has the same moment on both clocks.
type Anchor struct {
	Ticks     int64
	MonoNanos int64
}

// WallAnchor returns an anchor at the chunk's start. Its arguments are the same moment on two clocks, the wall clock
// and CLOCK_MONOTONIC. The anchor is as precise as the wall clock in the chunk's header, which has microseconds, or
// only milliseconds if [Clock.Coarse] returns true.
func (c Clock) WallAnchor(wallNanos, monoNanos int64) Anchor {
	return Anchor{Ticks: c.StartTicks, MonoNanos: c.StartWallNanos - wallNanos + monoNanos}
}

// MonoNanos converts a time in ticks to CLOCK_MONOTONIC.
func (c Clock) MonoNanos(ticks int64, a Anchor) int64 { return a.MonoNanos + c.Nanos(ticks-a.Ticks) }

// alignWithin is the maximum distance, in ns, between two moments that Align pairs. It has to be that large because
// the rough anchor of JDK 11 may be off by a millisecond, and the log may be late.
const alignWithin = 2_000_000

// alignCluster is the maximum distance, in ns, between two clock differences that Align considers equal.
const alignCluster = 20_000

// alignNear is the maximum number of moments on the other clock with which Align pairs a moment. It limits the time
// that Align takes.
const alignNear = 8

// Align improves a rough anchor. Its arguments are two sorted lists of moments: ticks on the chunk's clock, and
// monoNanos on CLOCK_MONOTONIC. Many moments are in both lists, but Align does not know which ones. So it pairs
// moments that are close to each other, computes each pair's clock difference, and looks for the largest group of
// pairs whose differences are nearly equal. On a busy machine HotSpot writes its log late, but never early, so the
// smallest differences are the most exact. Align therefore takes the first decile of the group's differences, or their
// median if the group has fewer than ten pairs. If the group has fewer than three pairs, Align returns false.
//
// For JDK 11 the moments are the ends of safepoints. The event jdk.SafepointEnd begins 2 µs before HotSpot writes the
// following line to its log (-Xlog:safepoint). No other event is that close to a line of the log:
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
	if n < 10 { // n/10 would be the smallest offset, which a single wrong pair could determine
		at = n / 2
	}
	rough.MonoNanos += offsets[lo+at]
	return rough, true
}
