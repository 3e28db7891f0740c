//go:build !linux

package jcmd

import (
	"context"
	"errors"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

func exchange(context.Context, *foreign.Process, string, []byte) (string, error) {
	return "", errors.New("gasm talks to running JVMs on Linux only: use jcmd, or start the program with gasm profile")
}

// RemoveTrigger does nothing: the file exists on Linux only.
func RemoveTrigger(context.Context, *foreign.Process) error { return nil }
