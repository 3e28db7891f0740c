//go:build !linux

package attach

import (
	"context"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// Started returns known false: performance data are read on Linux only.
func Started(context.Context, *foreign.Process) (started, known bool) { return false, false }
