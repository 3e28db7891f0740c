//go:build !linux

package sampler

import "syscall"

// endAsOrphan does nothing: perf is Linux's.
func endAsOrphan(*syscall.SysProcAttr) {}
