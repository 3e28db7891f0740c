package attach

import (
	"io"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// createdEntry is the counter of the performance data that tells when the JVM was made
// (management.cpp): from then on main runs, and the JVM can be asked for anything.
const createdEntry = "sun.rt.createVmEndTime"

// Started tells whether a JVM has come so far that it runs its program. known is false where it keeps no performance
// data (-XX:-UsePerfData), or has not begun to.
func Started(pid int) (started, known bool) {
	p := process(pid)
	status, err := p.status()
	if err != nil {
		return false, false
	}
	path := p.perfFile(status)
	if path == "" {
		return false, false
	}
	f, _, err := regular.OpenNoLink(path)
	if err != nil {
		return false, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPerfData))
	if err != nil {
		return false, false
	}
	n, found := perfLong(text, createdEntry)
	return n > 0, found
}
