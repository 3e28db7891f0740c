// Package monotonic reads the clock that all times of a capture are of.
package monotonic

import "golang.org/x/sys/unix"

// Nanos is the time of CLOCK_MONOTONIC: the clock of samples, of HotSpot's log and of System.nanoTime.
func Nanos() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // every Unix has this clock, and there is no other error
	return now.Nano()
}
