package vmstructs

import (
	"context"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// FlagsTime is long enough for the reading of a few flags.
const FlagsTime = 5 * time.Second

// Ask opens the HotSpot in a process, and returns what f reads of it. It waits no longer than until limit is over, or ctx is
// done: memory can be mapped from a file system that does not answer. f must not share memory with the caller.
func Ask[T any](ctx context.Context, limit time.Duration, pid int, f func(vm *VM) (T, error)) (T, error) {
	return foreign.Within(ctx, limit, func() (none T, err error) {
		vm, err := Open(pid)
		if err != nil {
			return none, err
		}
		return f(vm)
	})
}
