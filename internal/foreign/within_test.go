package foreign

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func contextWithin(t *testing.T, limit time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeoutCause(t.Context(), limit, errors.New("the test waits no longer"))
}

func TestWithin(t *testing.T) {
	n, err := Within(t.Context(), time.Minute, func() (int, error) { return 7, nil })
	require.NoError(t, err)
	assert.Equal(t, 7, n)
	hang := make(chan struct{})
	defer close(hang)
	never := func() (int, error) { <-hang; return 7, nil }
	_, err = Within(t.Context(), time.Millisecond, never)
	require.ErrorIs(t, err, ErrLate)
	assert.EqualError(t, err, "no answer in time (1ms)")
	ctx, cancel := contextWithin(t, time.Millisecond)
	defer cancel()
	_, err = Within(ctx, time.Minute, never)
	assert.EqualError(t, err, "the test waits no longer")
}
