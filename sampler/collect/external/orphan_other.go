//go:build !linux

package external

import "syscall"

// endAsOrphan does nothing, because perf exists on Linux only.
func endAsOrphan(*syscall.SysProcAttr) {}
