package gasmtest

import (
	"testing"
	"time"
)

// Lateness measures how late the kernel wakes this process up while other processes use the CPUs. The measurement goes
// on until the returned function is called. That function returns the largest delay. A test that asserts that something
// happens soon must allow this delay in addition, once for each process or thread that has to wake up.
func Lateness(tb testing.TB) (most func() time.Duration) {
	tb.Helper()
	const pause = 5 * time.Millisecond
	stop, latest := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		most := time.Duration(0)
		for {
			began := time.Now()
			select {
			case <-stop:
				latest <- most
				return
			case <-tb.Context().Done(): // the test has ended without calling the returned function
				return
			case <-time.After(pause):
				most = max(most, time.Since(began)-pause)
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		late := <-latest
		tb.Logf("woken %v late at most", late)
		return late
	}
}
