package sampler

import "golang.org/x/sys/unix"

// uptimeToMono is what CLOCK_MONOTONIC is ahead of CLOCK_UPTIME_RAW, which is mach_absolute_time in ns. It is the time that the
// machine has slept. Of some readings it takes the closest one.
func uptimeToMono() int64 {
	best, width := int64(0), int64(1)<<62
	for range 5 {
		before := clockNanos(unix.CLOCK_MONOTONIC)
		uptime := clockNanos(unix.CLOCK_UPTIME_RAW)
		after := clockNanos(unix.CLOCK_MONOTONIC)
		if after-before < width {
			best, width = before+(after-before)/2-uptime, after-before
		}
	}
	return best
}
