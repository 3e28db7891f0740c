package vmstructs

import (
	"context"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// FlagsTime is long enough to read a few flags.
const FlagsTime = 5 * time.Second

// Ask opens the HotSpot in a process, calls f with it and returns f's result. It returns an error when limit is over or
// ctx is done, even if f has not returned: reading memory can block for ever where it is mapped from a file system that
// does not answer. So f may go on in the background and must not share memory with the caller.
func Ask[T any](ctx context.Context, limit time.Duration, pid int, f func(vm *VM) (T, error)) (T, error) {
	return foreign.Within(ctx, limit, func() (none T, err error) {
		vm, err := Open(pid)
		if err != nil {
			return none, err
		}
		return f(vm)
	})
}
