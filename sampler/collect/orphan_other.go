//go:build !linux

package collect

import "syscall"

// endAsOrphan does nothing, because perf exists on Linux only.
func endAsOrphan(*syscall.SysProcAttr) {}
