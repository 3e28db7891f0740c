package sampler

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"
)

func init() { helpers["seccomp"] = helpSeccomp }

// helpSeccomp runs a command that gets EPERM for perf_event_open, as Docker's
// seccomp filter has it.
func helpSeccomp(args []string) int {
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
		{jumpEqual, 0, 1, syscall.SYS_PERF_EVENT_OPEN},
		{ret, 0, 0, failWith | uint32(syscall.EPERM)},
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
