package monotonic

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Go's own monotonic clock must be the same: an interval between two readings of one clock contains no longer
// interval of the other.
func TestNanos(t *testing.T) {
	t.Parallel()
	outer, began := Nanos(), time.Now()
	inner := Nanos()
	time.Sleep(5 * time.Millisecond)
	assert.LessOrEqual(t, Nanos()-inner, time.Since(began).Nanoseconds())
	assert.GreaterOrEqual(t, Nanos()-outer, (5 * time.Millisecond).Nanoseconds())
}
