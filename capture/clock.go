package capture

import (
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Clock is a reading of two clocks at the same moment. With it, wall clock times can be converted to the samples'
// clock.
type Clock struct {
	MonoNanos int64 `json:"mono_nanos"` // CLOCK_MONOTONIC, in ns
	WallNanos int64 `json:"wall_nanos"` // ns since 1970
}

// ReadClock reads both clocks. It reads the monotonic clock just before and just after the wall clock, and takes the
// middle of the two readings. It does this five times, and returns the result of the fastest attempt, because that one
// is the most precise.
func ReadClock() Clock {
	var best Clock
	width := int64(1 << 62)
	for range 5 {
		before := monotonic.Nanos()
		wall := time.Now().UnixNano()
		after := monotonic.Nanos()
		if after-before < width {
			width = after - before
			best = Clock{MonoNanos: before + width/2, WallNanos: wall}
		}
	}
	return best
}

// Mono converts a wall clock time to the samples' clock.
func (c Clock) Mono(wallNanos int64) int64 { return wallNanos - c.WallNanos + c.MonoNanos }

// StepTo returns by how much the wall clock was set forward between this reading and a later one. The result is
// negative if the clock was set back. It also contains the small errors of both readings.
func (c Clock) StepTo(later Clock) time.Duration {
	return time.Duration((later.WallNanos - later.MonoNanos) - (c.WallNanos - c.MonoNanos))
}
