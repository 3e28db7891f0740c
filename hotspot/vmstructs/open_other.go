//go:build !linux

package vmstructs

import "errors"

// Open finds the HotSpot in a process. It works on Linux alone.
func Open(pid int) (*VM, error) { return nil, errors.ErrUnsupported }

// Allowed tells why this process may not read the memory of the processes that it
// starts. It works on Linux alone.
func Allowed() error { return errors.ErrUnsupported }
