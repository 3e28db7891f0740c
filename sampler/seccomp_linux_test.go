package sampler

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	// As Docker's seccomp filter has it.
	helpers["seccomp"] = blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.EPERM)
	// A kernel without perf events, one without BPF and one that is locked down.
	helpers["no-perf-events"] = blocking(syscall.SYS_PERF_EVENT_OPEN, syscall.ENOSYS)
	helpers["no-bpf"] = blocking(unix.SYS_BPF, syscall.ENOSYS)
	helpers["bpf-forbidden"] = blocking(unix.SYS_BPF, syscall.EPERM)
}

// blocking is a helper that runs a command that gets the error for the system
// call.
func blocking(call uint32, fault syscall.Errno) func(args []string) int {
	return func(args []string) int {
		const (
			setNoNewPrivs, setSeccomp, modeFilter = 38, 22, 2
			load, jumpEqual, ret                  = 0x20, 0x15, 0x06 // the filter's instructions
			allow, failWith                       = 0x7fff0000, 0x00050000
		)
		type instruction struct {
			code   uint16
			jt, jf uint8
			k      uint32
		}
		filter := []instruction{
			{load, 0, 0, 0}, // the number of the system call
			{jumpEqual, 0, 1, call},
			{ret, 0, 0, failWith | uint32(fault)},
			{ret, 0, 0, allow},
		}
		program := struct {
			n            uint16
			instructions *instruction
		}{uint16(len(filter)), &filter[0]}

		runtime.LockOSThread()
		if _, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
			panic(errno)
		}
		if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, setSeccomp, modeFilter, uintptr(unsafe.Pointer(&program))); errno != 0 {
			panic(errno)
		}
		path, err := exec.LookPath(args[0])
		if err == nil {
			err = syscall.Exec(path, args, os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
}
