package xctrace

import (
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// uptimeToMono returns how far CLOCK_MONOTONIC is ahead of CLOCK_UPTIME_RAW, which is mach_absolute_time in ns. The
// difference is the time for which the machine was asleep. uptimeToMono reads both clocks several times, and uses the
// pair of readings that took the least time, because it is the most exact one.
func uptimeToMono() int64 {
	best, width := int64(0), int64(1)<<62
	var uptime unix.Timespec
	for range 5 {
		before := monotonic.Nanos()
		_ = unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &uptime) // every macOS has this clock
		after := monotonic.Nanos()
		if after-before < width {
			best, width = before+(after-before)/2-uptime.Nano(), after-before
		}
	}
	return best
}
