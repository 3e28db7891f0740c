package attach

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/native"
)

// userName returns the name of a user, or the id if the user has no name here.
func userName(uid int) string {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return strconv.Itoa(uid)
	}
	return u.Username
}

// tryMemory returns nil if the memory of the process can be read, and otherwise an error that says why not. It reads a
// byte of the vDSO, which the kernel itself has mapped, so the read can't block. If the process has no vDSO, tryMemory
// can't find out whether reads are allowed, and returns nil as well.
func (p process) tryMemory(mappings []native.Mapping, uid int) error {
	at := slices.IndexFunc(mappings, func(m native.Mapping) bool { return m.Path == native.VDSO })
	if err := p.CheckMemory(); err != nil {
		return err
	}
	if at < 0 {
		return nil // no vDSO: a later read of the JVM's memory shows whether it is allowed
	}
	var buf [1]byte
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(1)
	_, err := unix.ProcessVMReadv(p.PID(), local, []unix.RemoteIovec{{Base: uintptr(mappings[at].Lo), Len: 1}}, 0)
	if err != nil {
		return whyRefused(err, uid)
	}
	return nil
}

// errNoPtrace means that gasm runs as root but lacks the capability to read other processes, as is usual in a
// container.
var errNoPtrace = &fix.Error{Err: errors.New("gasm is root without the capability SYS_PTRACE"),
	Fix: "give it that (docker run --cap-add SYS_PTRACE; in Kubernetes securityContext.capabilities.add)"}

// whyHidden returns why /proc/PID/maps can't be read.
func whyHidden(pid, uid int) error {
	switch self := os.Geteuid(); {
	case self == 0:
		return errNoPtrace
	case self != uid:
		return &fix.Error{Err: fmt.Errorf("it belongs to %s", userName(uid)),
			Fix: fmt.Sprintf("run gasm as that user or as root (sudo gasm attach %d)", pid)}
	}
	return &fix.Error{Err: errors.New("the kernel protects it, because it has rights that gasm lacks"),
		Fix: fmt.Sprintf("run gasm as root (sudo gasm attach %d)", pid)}
}

// whyRefused returns why the memory of a process can't be read, although its maps can.
func whyRefused(err error, uid int) error {
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	if own := vmstructs.Allowed(); errors.Is(own, vmstructs.ErrNoReadv) {
		return &fix.Error{Err: fmt.Errorf("%w, for example by a container's seccomp filter", own),
			Fix: "allow it there, or run gasm outside"}
	}
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope") // kernels without Yama have none
	switch value := strings.TrimSpace(string(scope)); {
	case value == "3":
		return errors.New("kernel.yama.ptrace_scope is 3, so no process may be read until the machine is rebooted with another value")
	case value == "1" || value == "2":
		return &fix.Error{Err: errors.New("kernel.yama.ptrace_scope is " + value),
			Fix: "run gasm as root, or sudo sysctl kernel.yama.ptrace_scope=0"}
	case os.Geteuid() == 0:
		return errNoPtrace
	}
	return &fix.Error{Err: fmt.Errorf("the kernel refuses it (%w)", err), Fix: "run gasm as root"}
}
