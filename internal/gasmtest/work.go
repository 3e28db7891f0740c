package gasmtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// AwaitWork waits until a process has used the given amount of further CPU time. Tests use it to wait for samples. The
// number of samples depends on the CPU time of the process, and on a busy machine the process may get little CPU time
// in a second. The test fails in the same cases as with AwaitOf.
func AwaitWork(tb testing.TB, pid int, cpu time.Duration) {
	tb.Helper()
	begun, _ := CPUTime(pid)
	AwaitOf(tb, pid, fmt.Sprintf("it has worked for %v", cpu), func() bool {
		used, _ := CPUTime(pid)
		return used >= begun+cpu
	})
}

// AwaitOf waits until done returns true. The parameter what says in messages what was waited for. The test fails if the
// process ends first, or if it gets no CPU time for a minute. There is no other limit: on a busy machine it may take
// long, but as long as the process works, it makes progress.
func AwaitOf(tb testing.TB, pid int, what string, done func() bool) {
	tb.Helper()
	used, since := time.Duration(-1), time.Now()
	for !done() {
		now, ok := CPUTime(pid)
		switch {
		case !ok:
			tb.Fatalf("waiting until %s: process %d has ended, or there is no /proc", what, pid)
		case now > used:
			used, since = now, time.Now()
		case time.Since(since) > time.Minute:
			tb.Fatalf("waiting until %s: process %d has used no CPU time for a minute", what, pid)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// CPUTime returns the CPU time that the threads of a process have used, in steps of 10 ms. It returns false if the
// process has ended.
func CPUTime(pid int) (used time.Duration, ok bool) { return statTime(pid, 11) }

// ChildrenTime is like CPUTime, but it returns the CPU time of the process's descendants that have ended and for which
// their parents have waited.
func ChildrenTime(pid int) (used time.Duration, ok bool) { return statTime(pid, 13) }

// statTime returns the sum of two fields of /proc/PID/stat, a time in user mode (the field first) and a time in kernel
// mode (the field after it). Fields are counted from the state on, because the name before the state may contain
// anything. The state is field 0, the times of the process are the fields 11 and 12, and those of its children the
// fields 13 and 14:
//
//	4711 (java) S 4700 4711 4700 34816 4711 1077936128 8231 0 12 0 152 21 0 0 20 0 …
func statTime(pid, first int) (used time.Duration, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < first+2 || fields[0][0] == 'Z' {
		return 0, false
	}
	for _, field := range fields[first : first+2] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, false
		}
		used += time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 for all programs
	}
	return used, true
}
