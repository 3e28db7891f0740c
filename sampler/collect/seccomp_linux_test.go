package collect

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func init() {
	// Docker's seccomp filter does this.
	helpers["seccomp"] = blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM)
	// A kernel without perf events, one without BPF and one that is locked down.
	helpers["no-perf-events"] = blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.ENOSYS)
	helpers["no-bpf"] = blocking(unix.SYS_BPF, syscall.ENOSYS)
	helpers["bpf-forbidden"] = blocking(unix.SYS_BPF, syscall.EPERM)
}

// blocking returns a helper that runs the command in its arguments. The system call fails with the
// error there.
func blocking(call uint32, fault syscall.Errno) func(args []string) int {
	return func(args []string) int {
		fmt.Fprintln(os.Stderr, gasmtest.ExecBlocked(call, fault, args))
		return 1
	}
}
