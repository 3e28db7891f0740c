//go:build !linux

package attach

import (
	"context"
	"errors"
)

var errUnsupported = errors.New(
	"gasm reads the memory of running JVMs on Linux only: start the program with gasm profile")

// List returns an error: reading running JVMs works on Linux only.
func List(context.Context) ([]Process, error) { return nil, errUnsupported }

// Look returns an error: reading running JVMs works on Linux only.
func Look(context.Context, int) (*Process, error) { return nil, errUnsupported }

// A Lister lists the running JVMs again and again.
type Lister struct{}

// List returns an error, because only Linux lets gasm look at other processes.
func (*Lister) List(context.Context) ([]Process, error) { return nil, errUnsupported }
