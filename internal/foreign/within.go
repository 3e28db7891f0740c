package foreign

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLate means that a call has not returned in time. Other errors wrap it.
var ErrLate = errors.New("no answer in time")

// ErrEnded means that the process has ended. Other errors wrap it.
var ErrEnded = errors.New("it has ended")

// WithinLimit does the same as Within, but without a context. It is for functions that look at a process for a short
// time and get no context from their caller.
func WithinLimit[T any](limit time.Duration, f func() (T, error)) (T, error) {
	return Within(context.Background(), limit, f)
}

// Within runs f in a new goroutine, and waits until f returns, limit has passed, or ctx is done. It is for calls that
// can block because of another process and can't be interrupted, such as reading memory that the process has mapped
// from a file system of its own. If Within returns before f, f continues to run and its result is dropped. So f must
// not share memory with the caller.
func Within[T any](ctx context.Context, limit time.Duration, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var none T
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-timer.C:
		return none, fmt.Errorf("%w (%s)", ErrLate, limit)
	}
}
