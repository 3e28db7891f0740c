// Package monotonic reads the clock of all times in a capture.
package monotonic

import "golang.org/x/sys/unix"

// Nanos returns the time of CLOCK_MONOTONIC, which is also the clock of samples, of HotSpot's log and of
// System.nanoTime.
func Nanos() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // every Unix has this clock, and no other error is possible
	return now.Nano()
}
