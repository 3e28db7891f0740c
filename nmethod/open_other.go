//go:build !linux

package nmethod

import "errors"

// Open finds HotSpot in a process, on Linux.
func Open(pid int) (*JVM, error) { return nil, errors.ErrUnsupported }

// Allowed tells why this process may not read the memory of those that it starts.
func Allowed() error { return errors.ErrUnsupported }
