package foreign

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLate is wrapped by the error of a call that has not returned in time.
var ErrLate = errors.New("no answer in time")

// ErrEnded is wrapped by the error of a process that has ended.
var ErrEnded = errors.New("it has ended")

// WithinLimit is Within for functions without a context, which look at a process for a short time: only limit ends the
// wait. A caller that has a context uses Within.
func WithinLimit[T any](limit time.Duration, f func() (T, error)) (T, error) {
	return Within(context.Background(), limit, f)
}

// Within runs f in a goroutine of its own, and waits until it returns, limit is over, or ctx is done. It is for what can
// wait for another process and can't be interrupted, such as reading its memory where that is mapped from a file system
// of its own making. If f has not returned, its result is dropped; f must not share memory with the caller then.
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
		return none, fmt.Errorf("%w, which was %s", ErrLate, limit)
	}
}
