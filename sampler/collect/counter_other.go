//go:build !linux

package collect

import (
	"time"

	"github.com/gasm-profiler/gasm/sampler"
)

// sampleCost gives 0, for unknown: DTrace on macOS runs on hardware, where a sample
// costs little.
func sampleCost(sampler.Event) time.Duration { return 0 }

// noCyclesCounter is about perf, which other systems than Linux have not.
var noCyclesCounter = func() bool { return false }
