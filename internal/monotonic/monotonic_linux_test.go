package monotonic

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A thread that sleeps is not ready, and one that works is.
func TestReady(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := CurrentThread()
	began, before := time.Now(), thread.Ready()
	require.Positive(t, before, "the kernel counts")
	time.Sleep(100 * time.Millisecond)
	slept := thread.Ready()
	const tick = 10 * time.Millisecond // the kernel may add what the thread has used only then
	assert.LessOrEqual(t, slept-before, time.Since(began)-100*time.Millisecond+tick)
	for used := ThreadCPU(); ThreadCPU() < used+50*time.Millisecond; {
	}
	assert.GreaterOrEqual(t, thread.Ready()-slept, 50*time.Millisecond-tick)
	assert.Zero(t, Thread{}.Ready())
}
