package record

import (
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/capture"
)

// clockReadings are readings of both clocks. They convert a JVM's start, which the JVM's log has by the wall clock in
// ms, to the samples' clock. The wall clock may be set while the command runs. It also goes on while the machine
// sleeps, unlike CLOCK_MONOTONIC. So both clocks are read at the command's start and end, and when each JVM is found.
type clockReadings struct {
	start, end capture.Clock
	found      map[int]capture.Clock // by the JVM's pid
}

// clockNoise is an upper bound for the difference between two readings of the two clocks, unless somebody has set the
// wall clock.
const clockNoise = 10 * time.Millisecond

// step returns by how much the wall clock was set while the command ran; 0 when it was not.
func (c *clockReadings) step() time.Duration {
	if by := c.start.StepTo(c.end); by.Abs() > clockNoise {
		return by
	}
	return 0
}

// jvmStart converts a JVM's start by the wall clock to the samples' clock.
func (c *clockReadings) jvmStart(pid int, wallNanos int64) int64 {
	first, last := c.start.Mono(wallNanos), c.end.Mono(wallNanos)
	found, ok := c.found[pid]
	switch {
	case c.step() == 0:
		return first
	case ok: // some ms after its start
		return found.Mono(wallNanos)
	case c.during(last) && !c.during(first):
		return last
	}
	return first
}

// during reports whether the command ran at a time.
func (c *clockReadings) during(mono int64) bool {
	return c.start.MonoNanos <= mono && mono <= c.end.MonoNanos
}

// note returns a warning if the wall clock was set; "" if it was not.
func (c *clockReadings) note() string {
	by := c.step()
	if by == 0 {
		return ""
	}
	return fmt.Sprintf("the wall clock was changed by %s while the command ran, or the machine slept: each JVM's start is by that clock "+
		"as it was when the JVM was found", by.Round(time.Millisecond))
}
