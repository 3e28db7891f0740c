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

// Coarse tells that the wall clock of the header has whole milliseconds, as that of JDK 11
// does: times by [Clock.WallAnchor] are up to a millisecond off then, and another anchor is better.
func (c Clock) Coarse() bool { return c.StartWallNanos%1_000_000 == 0 }

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

// MedianAnchor makes an anchor of moments that are known on both clocks with some error, such as safepoints
// that HotSpot's log has too: half of the moments are earlier by it, and half are later. Without any ok is false.
func (c Clock) MedianAnchor(moments []Anchor) (a Anchor, ok bool) {
	if len(moments) == 0 {
		return Anchor{}, false
	}
	first := moments[0]
	offsets := make([]int64, len(moments))
	for i, m := range moments {
		offsets[i] = m.MonoNanos - first.MonoNanos - c.Nanos(m.Ticks-first.Ticks)
	}
	slices.Sort(offsets)
	return Anchor{Ticks: first.Ticks, MonoNanos: first.MonoNanos + offsets[len(offsets)/2]}, true
}
