//go:build !linux

package terminal

import "os"

// A Saved is the state of a terminal. gasm top runs on Linux only.
type Saved struct{}

// Save returns nil.
func Save(*os.File) *Saved { return nil }

// Restore does nothing.
func (*Saved) Restore(bool) {}
