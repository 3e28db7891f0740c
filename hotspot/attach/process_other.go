//go:build !linux

package attach

import (
	"context"
	"errors"
)

var errUnsupported = errors.New("gasm reads the memory of running JVMs on Linux alone: start the program by gasm profile")

// List finds the JVMs that run. It works on Linux alone.
func List(context.Context) ([]Process, error) { return nil, errUnsupported }

// Look looks at one process. It works on Linux alone.
func Look(context.Context, int) (*Process, error) { return nil, errUnsupported }
