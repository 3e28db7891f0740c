//go:build !linux

package attach

import "github.com/gasm-profiler/gasm/internal/foreign"

// Started reports whether a JVM has come so far that it runs its program. It is known on Linux alone.
func Started(*foreign.Process) (started, known bool) { return false, false }
