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
// in a second. The test fails if the process ends, or if it gets no CPU time for a minute.
func AwaitWork(tb testing.TB, pid int, cpu time.Duration) {
	tb.Helper()
	begun, ok := CPUTime(pid)
	used, since := begun, time.Now()
	for ; ok && used < begun+cpu; time.Sleep(10 * time.Millisecond) {
		var now time.Duration
		if now, ok = CPUTime(pid); now > used {
			used, since = now, time.Now()
		}
		if time.Since(since) > time.Minute {
			tb.Fatalf("process %d has used no CPU time for a minute", pid)
		}
	}
	if !ok {
		tb.Fatalf("process %d has ended, or there is no /proc", pid)
	}
}

// CPUTime returns the CPU time that the threads of a process have used, in steps of 10 ms. It returns false if the
// process has ended. The times in user mode and in kernel mode are in /proc/PID/stat. CPUTime counts the fields from
// the state on, because the name before the state may contain anything. The state is field 1, and the times are the
// fields 12 and 13:
//
//	4711 (java) S 4700 4711 4700 34816 4711 1077936128 8231 0 12 0 152 21 0 0 20 0 …
func CPUTime(pid int) (used time.Duration, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 13 || fields[0][0] == 'Z' {
		return 0, false
	}
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, false
		}
		used += time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 for all programs
	}
	return used, true
}
