// Package processend waits for the end of a process that need not be a child of this process.
//
// A process is named by its id and by the time of its start in clock ticks ([StartTicks]), because the kernel reuses
// the id of a process that has ended.
package processend

import "github.com/gasm-profiler/gasm/internal/foreign"

// StartTicks returns the time at which a process started, in clock ticks since the machine's start. It returns 0 if the
// time is unknown.
func StartTicks(pid int) uint64 { return foreign.StatOf(pid).StartTicks }

// HasEnded reports whether a process has ended. It is not deceived if another process has got the same id, because
// that process has other start ticks. A zombie has ended, too, although it keeps its id until its parent has waited
// for it.
func HasEnded(pid int, ticks uint64) bool {
	now := foreign.StatOf(pid)
	return now.StartTicks != ticks || now.Ended()
}
