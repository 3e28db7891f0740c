//go:build !linux

package collect

import (
	"time"

	"github.com/gasm-profiler/gasm/sampler"
)

// sampleCost returns 0, which means unknown. The cost is not needed on macOS, because DTrace runs on hardware there,
// where a sample costs little.
func sampleCost(sampler.Event, int) time.Duration { return 0 }

// noCyclesCounter always returns false. gasm asks only perf for cycles, and perf exists on Linux only.
var noCyclesCounter = func() bool { return false }
