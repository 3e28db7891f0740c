package gasmtest

import (
	"maps"
	"slices"
	"strings"
)

// StraceCalls returns the lines that `strace -f` has written to a file: system calls, signals, and ends of threads.
// Each begins with the number of its thread. If another thread was active during a call, strace has written the call in
// two lines, "4711 openat(3, <unfinished ...>" and "4711 <... openat resumed>) = 4". StraceCalls joins them, at the
// place of the second one. If the beginning or the end of a call is missing, the rest of it is returned.
func StraceCalls(log string) []string {
	began := map[string]string{} // the first lines of calls, by thread
	var calls []string
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		thread, call, _ := strings.Cut(line, " ")
		if start, unfinished := strings.CutSuffix(line, " <unfinished ...>"); unfinished {
			began[thread] = start
			continue
		}
		if _, end, resumed := strings.Cut(call, " resumed>"); resumed && began[thread] != "" {
			line = began[thread] + end
			delete(began, thread)
		}
		calls = append(calls, line)
	}
	return append(calls, slices.Sorted(maps.Values(began))...) // these threads ended in their calls
}
