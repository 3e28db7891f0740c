//go:build !linux

package sampler

import "time"

// sampleCost gives 0, for unknown: DTrace on macOS runs on hardware, where a sample
// costs little.
func sampleCost(Event) time.Duration { return 0 }

// noCyclesCounter is about perf, which other systems than Linux have not.
var noCyclesCounter = func() bool { return false }
