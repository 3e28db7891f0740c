// Package processend waits for the end of a process that may have any parent.
//
// A process is named by its id and by the time of its start in clock ticks ([StartTicks]), because the kernel gives the
// id of a process that has ended to another one.
package processend

import "github.com/gasm-profiler/gasm/internal/foreign"

// StartTicks returns the time at which a process started, in clock ticks since the machine's start. It returns 0 when
// that is unknown.
func StartTicks(pid int) uint64 { return foreign.StatOf(pid).StartTicks }

// HasEnded reports whether the process that started at a time has ended. Its id may belong to another process by now.
// Or it is a zombie, which keeps the id until its parent has waited for it.
func HasEnded(pid int, ticks uint64) bool {
	now := foreign.StatOf(pid)
	return now.StartTicks != ticks || now.Ended()
}
