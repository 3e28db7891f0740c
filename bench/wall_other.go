//go:build !linux

package main

import "context"

// measureWall returns an error: gasm looks at the threads of running JVMs on Linux only.
func measureWall(context.Context, *setup) ([]figure, error) {
	return nil, missing("threads are looked at on Linux only")
}
