package capture

import (
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A Clock is one moment on two clocks. It converts wall clock times to the samples' clock.
type Clock struct {
	MonoNanos int64 `json:"mono_nanos"` // CLOCK_MONOTONIC
	WallNanos int64 `json:"wall_nanos"` // since 1970
}

// ReadClock reads both clocks at one moment: it reads the wall clock between two readings of the monotonic clock. It
// tries that five times, and takes the try whose two readings were closest.
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

// StepTo returns by how much somebody has set the wall clock between this reading and a later one. It includes the
// small error of the two readings.
func (c Clock) StepTo(later Clock) time.Duration {
	return time.Duration((later.WallNanos - later.MonoNanos) - (c.WallNanos - c.MonoNanos))
}
