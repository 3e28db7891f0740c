package gasmtest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ExecBlocked replaces this process with a command, and makes one system call fail for the command and all processes
// that it starts. It uses a seccomp filter, as Docker does. ExecBlocked returns only if it fails. The filter can't be
// removed, so a test must call ExecBlocked in a process of its own.
func ExecBlocked(call uint32, fault syscall.Errno, command []string) error {
	return execFiltered([]unix.SockFilter{
		loadAt(0), // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(fault)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}, command)
}

// ExecMachineEventsOnly is like ExecBlocked, but blocks only some calls of perf_event_open. It blocks calls that open
// an event for a process, as gasm and perf do. Calls that open an event for the whole machine succeed. They have -1 as
// the second argument, and DTrace makes such calls.
func ExecMachineEventsOnly(command []string) error {
	const pidAt = 24 // offset of the low half of the second argument in struct seccomp_data
	return execFiltered([]unix.SockFilter{
		loadAt(0),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PERF_EVENT_OPEN, Jf: 3},
		loadAt(pidAt),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 1<<32 - 1, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(syscall.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}, command)
}

func loadAt(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func execFiltered(filter []unix.SockFilter, command []string) error {
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0,
		0); err != nil {
		return fmt.Errorf("PR_SET_SECCOMP: %w", err)
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, command, os.Environ())
}
