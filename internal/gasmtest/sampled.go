package gasmtest

import (
	"strings"
	"testing"
)

// Sampled fails the test unless an exit code of `gasm attach --length 100ms` is 0. It may be 1 if gasm says that the JVM
// used no CPU time meanwhile: on a busy machine, even a program that never sleeps may not run for so short a time.
func Sampled(tb testing.TB, code int, stderr string) {
	tb.Helper()
	if code != 0 && !(code == 1 && strings.HasSuffix(stderr, "gasm: no samples at all: the JVM used no CPU time while it was sampled\n")) {
		tb.Errorf("exit code %d: %s", code, stderr)
	}
}
