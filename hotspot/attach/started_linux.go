package attach

import (
	"context"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// createdEntry is the name of a counter in the performance data. Its value is the time when the initialization of the
// JVM was complete (management.cpp), and 0 before that. From that time on, the JVM runs main and can execute any
// command.
const createdEntry = "sun.rt.createVmEndTime"

// Started reports whether a JVM has started to run its program. The result known is false if the JVM has no performance
// data, either because it was started with -XX:-UsePerfData or because it has not written them yet.
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
