package dtrace

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// helperEnv is the environment variable that names a helper. If it is set, the test binary does not run
// tests: it is that helper, a program that a test needs.
const helperEnv = "GASM_DTRACE_HELPER"

var helpers = map[string]func(args []string) int{
	"sample": helpSample,
	// Docker's seccomp filter does this.
	"seccomp": blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM),
	// A kernel without perf events, one without BPF and one that is locked down.
	"no-perf-events": blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.ENOSYS),
	"no-bpf":         blocking(unix.SYS_BPF, syscall.ENOSYS),
	"bpf-forbidden":  blocking(unix.SYS_BPF, syscall.EPERM),
}

func TestMain(m *testing.M) {
	if run := helpers[os.Getenv(helperEnv)]; run != nil {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// blocking returns a helper that runs the command in its arguments. In that command, the system call fails with the
// given error.
func blocking(call uint32, fault syscall.Errno) func(args []string) int {
	return func(args []string) int {
		fmt.Fprintln(os.Stderr, gasmtest.ExecBlocked(call, fault, args))
		return 1
	}
}
