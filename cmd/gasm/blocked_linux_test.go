package main

import (
	"os"
	"syscall"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// blocked becomes a command for which perf_event_open fails, as in a container; with
// blockedEnv=processes not for the whole machine.
func blocked(command []string) error {
	processesOnly := os.Getenv(blockedEnv) == "processes"
	os.Unsetenv(blockedEnv)
	if processesOnly {
		return gasmtest.ExecMachineEventsOnly(command)
	}
	return gasmtest.ExecBlocked(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM, command)
}
