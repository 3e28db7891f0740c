//go:build !linux

package collect

import "syscall"

// endAsOrphan does nothing: perf is Linux's.
func endAsOrphan(*syscall.SysProcAttr) {}
