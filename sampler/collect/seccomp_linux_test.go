package collect

import (
	"fmt"
	"os"
	"syscall"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func init() {
	// Docker's seccomp filter does this.
	helpers["seccomp"] = blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM)
	// A kernel without perf events.
	helpers["no-perf-events"] = blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.ENOSYS)
}

// blocking returns a helper that runs the command in its arguments. In that command, the system call fails with the
// given error.
func blocking(call uint32, fault syscall.Errno) func(args []string) int {
	return func(args []string) int {
		fmt.Fprintln(os.Stderr, gasmtest.ExecBlocked(call, fault, args))
		return 1
	}
}
