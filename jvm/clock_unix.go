package jvm

import "golang.org/x/sys/unix"

// MonoNanos reads CLOCK_MONOTONIC, the clock of perf record -k mono and of
// DTrace's timestamp on Linux.
func MonoNanos() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0 // cannot happen: every Unix has this clock
	}
	return ts.Nano()
}
