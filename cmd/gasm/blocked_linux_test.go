package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// blocked replaces this process with a command for which perf_event_open fails, as in a container. With
// blockedEnv=processes, it fails only for single processes, and not for the whole machine. With blockedEnv=memory,
// process_vm_readv fails instead, and with blockedEnv=bpf, bpf does.
func blocked(command []string) error {
	what := os.Getenv(blockedEnv)
	os.Unsetenv(blockedEnv)
	switch what {
	case "processes":
		return gasmtest.ExecMachineEventsOnly(command)
	case "memory":
		return gasmtest.ExecBlocked(unix.SYS_PROCESS_VM_READV, syscall.EPERM, command)
	case "bpf":
		return gasmtest.ExecBlocked(unix.SYS_BPF, syscall.EPERM, command)
	}
	return gasmtest.ExecBlocked(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM, command)
}
