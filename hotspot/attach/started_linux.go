package attach

import (
	"context"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// createdEntry is the counter in the performance data that has the time when the JVM was initialized (management.cpp).
// From then on main runs, and the JVM can execute any command.
const createdEntry = "sun.rt.createVmEndTime"

// Started reports whether a JVM runs its program yet. known is false if it has no performance data (-XX:-UsePerfData),
// or none yet.
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
