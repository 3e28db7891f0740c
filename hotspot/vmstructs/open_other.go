//go:build !linux

package vmstructs

import "errors"

// Open returns errors.ErrUnsupported: reading a JVM works on Linux only.
func Open(pid int) (*VM, error) { return nil, errors.ErrUnsupported }

// Allowed returns errors.ErrUnsupported: reading a JVM works on Linux only.
func Allowed() error { return errors.ErrUnsupported }
