package gasmtest

import (
	"strings"
	"testing"
)

// Sampled fails the test unless code, the exit code of `gasm attach --length 100ms`, is 0. The code may also be 1 if
// gasm says that the JVM used no CPU time: on a busy machine, even a program that never sleeps may get none in so short
// a time.
func Sampled(tb testing.TB, code int, stderr string) {
	tb.Helper()
	if code != 0 && !(code == 1 && strings.HasSuffix(stderr,
		"gasm: no samples at all: the JVM used no CPU time while it was sampled\n")) {
		tb.Errorf("exit code %d: %s", code, stderr)
	}
}
