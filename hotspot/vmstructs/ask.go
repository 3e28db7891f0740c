package vmstructs

import (
	"context"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// FlagsTime is the limit to pass to [Ask] in order to read a few flags. Usually a few milliseconds
// are enough.
const FlagsTime = 5 * time.Second

// Ask opens the HotSpot in a process, calls f with it and returns f's result. When the time limit is over or ctx is
// done, Ask returns an error even if f has not returned, because reading memory that is mapped from a file system can
// block for ever if the file system does not answer. In that case f continues in the background, so it must not share
// variables with the caller.
func Ask[T any](ctx context.Context, limit time.Duration, pid int, f func(vm *VM) (T, error)) (T, error) {
	return foreign.Within(ctx, limit, func() (none T, err error) {
		vm, err := Open(pid)
		if err != nil {
			return none, err
		}
		return f(vm)
	})
}
