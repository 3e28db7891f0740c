// Package monotonic reads the clock that all times in a capture come from.
package monotonic

import (
	"time"

	"golang.org/x/sys/unix"
)

// Nanos returns the time of CLOCK_MONOTONIC in ns. Samples, HotSpot's log and System.nanoTime use the same clock.
func Nanos() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // it fails only without this clock, and every Unix has it
	return now.Nano()
}

// CPU returns the CPU time that this process has used.
func CPU() time.Duration {
	var used unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used) // every Unix has this clock
	return time.Duration(used.Nano())
}
