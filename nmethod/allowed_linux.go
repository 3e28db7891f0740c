package nmethod

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Allowed tells why this process may not read the memory of those that it starts;
// nil when it may.
func Allowed() error {
	var from, to [1]byte
	self := process(os.Getpid())
	if _, err := self.ReadAt(to[:], int64(uintptr(unsafe.Pointer(&from)))); err != nil {
		return fmt.Errorf("process_vm_readv is not allowed here: %w", err)
	}
	// Yama: 0 anyone of the same user, 1 descendants, 2 administrators, 3 nobody.
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch scope = bytes.TrimSpace(scope); {
	case len(scope) == 0 || scope[0] < '2':
		return nil
	case scope[0] == '2' && mayTrace():
		return nil
	}
	return errors.New("kernel.yama.ptrace_scope is " + string(scope))
}

// mayTrace tells whether this process has CAP_SYS_PTRACE.
func mayTrace() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_PTRACE) != 0
}
