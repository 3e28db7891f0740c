package vmstructs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// ErrNoReadv means that this process may not even read its own memory with process_vm_readv.
var ErrNoReadv = errors.New("the system call process_vm_readv is refused here")

// Allowed returns an error if this process may not read the memory of the processes that it starts.
func Allowed() error {
	// Every process may read its own memory, unless something refuses the system call
	// itself. Docker's seccomp filter does so on kernels older than 4.8.
	var from, to [1]byte
	self, err := newProcessMemory(os.Getpid())
	if err == nil {
		_, err = self.ReadAt(to[:], int64(uintptr(unsafe.Pointer(&from))))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoReadv, err)
	}
	// Kernels without the Yama module have no such file.
	text, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return allowedBy(string(bytes.TrimSpace(text)), foreign.MayTrace())
}

// allowedBy returns an error if kernel.yama.ptrace_scope keeps a process from reading the memory of its children. If
// its value is 0, any process of the same user may read. If it is 1, only the parent and the parent's ancestors may;
// if it is 2, only processes that have CAP_SYS_PTRACE; if it is 3, no process. ptraceScope is "" for a kernel without
// Yama, which has no such restriction.
func allowedBy(ptraceScope string, mayTrace bool) error {
	switch ptraceScope {
	case "", "0", "1":
		return nil
	case "2":
		if mayTrace {
			return nil
		}
	}
	return fmt.Errorf("the kernel refuses to let gasm read the JVM's memory (kernel.yama.ptrace_scope is %s)", ptraceScope)
}
