//go:build !linux

package attach

import (
	"context"
	"errors"
)

// A Watch reads the performance data of a running JVM. On this system, StartWatch never returns a Watch.
type Watch struct{}

// StartWatch returns an error, because gasm attaches to running JVMs on Linux only.
func StartWatch(context.Context, int) (*Watch, error) {
	return nil, errors.New("running JVMs can be watched on Linux only")
}

// Read is never called, because there is no Watch.
func (*Watch) Read() (a Activity, known bool) { return a, false }

// Close does nothing.
func (*Watch) Close() {}
