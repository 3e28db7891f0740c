package jvm

import "time"

// A Clock relates wall clock time to the samples' clock.
type Clock struct {
	MonoNanos int64 `json:"mono_nanos"` // CLOCK_MONOTONIC
	WallNanos int64 `json:"wall_nanos"` // since 1970
}

// ReadClock reads both clocks at one moment: between two readings of the
// monotonic clock, the closest of some tries.
func ReadClock() Clock {
	var best Clock
	width := int64(1 << 62)
	for range 5 {
		before := MonoNanos()
		wall := time.Now().UnixNano()
		after := MonoNanos()
		if after-before < width {
			width = after - before
			best = Clock{MonoNanos: before + width/2, WallNanos: wall}
		}
	}
	return best
}

// Mono translates a wall clock time to the samples' clock.
func (c Clock) Mono(wallNanos int64) int64 { return wallNanos - c.WallNanos + c.MonoNanos }
