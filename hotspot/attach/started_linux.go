package attach

import (
	"context"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// createdEntry is the counter of the performance data that tells when the JVM was made
// (management.cpp): from then on main runs, and the JVM can be asked for anything.
const createdEntry = "sun.rt.createVmEndTime"

// Started reports whether a JVM has come so far that it runs its program. known is false where it keeps no performance
// data (-XX:-UsePerfData), or has not begun to.
func Started(ctx context.Context, p *foreign.Process) (started, known bool) {
	status, err := p.Status()
	if err != nil {
		return false, false
	}
	f := process{p}.enter(ctx, status)
	defer f.close()
	n, found := perfLong(f.perfText(), createdEntry)
	return n > 0, found
}
