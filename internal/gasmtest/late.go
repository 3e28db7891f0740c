package gasmtest

import (
	"testing"
	"time"
)

// Lateness begins to measure how late this process is woken because other processes have the processors.
// The returned function ends the measurement, and returns the largest lateness. A test of how soon something
// happens allows this much more time for each process or thread that must be woken for it.
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
			case <-tb.Context().Done(): // the test has ended, and did not ask
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
