// Package processend waits for the end of a process that need not be a child of this process.
//
// A process is named by its id and by the time of its start in clock ticks ([StartTicks]), because the kernel reuses
// the id of a process that has ended.
package processend

import "github.com/gasm-profiler/gasm/internal/foreign"

// StartTicks returns the time at which a process started, in clock ticks since the machine's start. It returns 0 if the
// time is unknown.
func StartTicks(pid int) uint64 { return foreign.StatOf(pid).StartTicks }

// HasEnded reports whether a process has ended. If another process already has the same id, it has other start ticks. A
// zombie, which keeps its id until its parent has waited for it, has ended, too.
func HasEnded(pid int, ticks uint64) bool {
	now := foreign.StatOf(pid)
	return now.StartTicks != ticks || now.Ended()
}
