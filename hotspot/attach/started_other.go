//go:build !linux

package attach

import (
	"context"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// Started returns known = false, because gasm reads performance data on Linux only.
func Started(context.Context, *foreign.Process) (started, known bool) { return false, false }
