package main

import (
	"os"
	"syscall"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// blocked becomes a command for which perf_event_open fails, as in a container.
func blocked(command []string) error {
	os.Unsetenv(blockedEnv)
	return gasmtest.ExecBlocked(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM, command)
}
