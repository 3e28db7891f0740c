package record

import (
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/capture"
)

// clockReadings are readings of the wall clock and of the samples' clock, CLOCK_MONOTONIC. A JVM's log has the time of
// the JVM's start in ms on the wall clock. With the readings, gasm converts this time to the samples' clock. The
// difference between the clocks may change while the command runs: somebody may set the wall clock, and while the
// machine sleeps, only the wall clock goes on. So both clocks are read at the command's start, at its end, and
// whenever a JVM is found.
type clockReadings struct {
	start, end capture.Clock
	found      map[int]capture.Clock // by the JVM's pid
}

// clockNoise is how much the difference between the wall clock and the samples' clock may change because of inaccurate
// readings. A larger change means that the wall clock was set, or that the machine slept.
const clockNoise = 10 * time.Millisecond

// step returns by how much the wall clock moved against the samples' clock while the command ran, because somebody set
// it or the machine slept. It returns 0 if neither happened.
func (c *clockReadings) step() time.Duration {
	if by := c.start.StepTo(c.end); by.Abs() > clockNoise {
		return by
	}
	return 0
}

// jvmStart converts the time of a JVM's start from the wall clock to the samples' clock.
func (c *clockReadings) jvmStart(pid int, wallNanos int64) int64 {
	first, last := c.start.Mono(wallNanos), c.end.Mono(wallNanos)
	found, ok := c.found[pid]
	switch {
	case c.step() == 0:
		return first
	case ok: // the clocks were also read a few ms after the JVM's start
		return found.Mono(wallNanos)
	case c.during(last) && !c.during(first):
		return last
	}
	return first
}

// during reports whether the command was running at a time on the samples' clock.
func (c *clockReadings) during(mono int64) bool {
	return c.start.MonoNanos <= mono && mono <= c.end.MonoNanos
}

// note returns a warning if the wall clock was set or the machine slept, and otherwise "".
func (c *clockReadings) note() string {
	by := c.step()
	if by == 0 {
		return ""
	}
	return fmt.Sprintf("the wall clock was changed by %s while the command ran, or the machine slept: each JVM's start is by that clock "+
		"as it was when the JVM was found", by.Round(time.Millisecond))
}
