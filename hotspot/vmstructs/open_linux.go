package vmstructs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/native"
)

// Open finds the HotSpot in a process. The process must have loaded libjvm.so, which a JVM does before it writes
// a log.
//
// The error is an [*OpenError]. If the process has ended, it wraps syscall.ESRCH or fs.ErrNotExist.
func Open(pid int) (*VM, error) {
	vm, err := open(pid)
	var typed *OpenError
	if err != nil && !errors.As(err, &typed) {
		err = explain(pid, err)
	}
	return vm, err
}

func open(pid int) (*VM, error) {
	// The process is opened first. If its id is reused later, reading its memory fails.
	memory, err := newProcessMemory(pid)
	if err != nil {
		return nil, err
	}
	library, err := findLibJVM(pid)
	if err == nil {
		err = memory.process.CheckMemory()
	}
	if errors.Is(err, foreign.ErrEnded) {
		err = syscall.ESRCH
	}
	if err != nil {
		return nil, err
	}
	img, err := findImage(Memory{reader: memory}, library)
	if err != nil {
		return nil, err
	}
	symbols, err := img.exported()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", library.Path, err)
	}
	vm, err := New(memory, func(name string) (uint64, error) {
		at, ok := symbols[name]
		if !ok {
			return 0, fmt.Errorf("%s does not export %s", library.Path, name)
		}
		return at, nil
	})
	if err != nil {
		return nil, err
	}
	vm.variables = img.variables()
	vm.symbols = func(names []string) (map[string]uint64, error) { return fileSymbols(library, names) }
	return vm, nil
}

// findLibJVM finds the mapping of libjvm.so that holds code.
func findLibJVM(pid int) (native.Mapping, error) {
	mappings, err := native.ReadMaps(pid)
	for _, m := range mappings {
		if filepath.Base(m.Path) == "libjvm.so" {
			return m, nil
		}
	}
	switch {
	case err != nil:
		return native.Mapping{}, err
	case len(mappings) == 0:
		// A process that has ended exists until its parent waits for it, but it has no mappings.
		return native.Mapping{}, syscall.ESRCH
	}
	for _, m := range mappings {
		if strings.HasPrefix(filepath.Base(m.Path), "libj9vm") {
			return native.Mapping{}, &OpenError{pid, OpenJ9,
				fmt.Errorf("runs OpenJ9 (%s): gasm can read the code of HotSpot only", m.Path)}
		}
	}
	if isNativeImage(pid) {
		return native.Mapping{}, &OpenError{pid, NativeImage,
			errors.New("is a native image of GraalVM, which has no JVM: its code is in its file, so perf can show it")}
	}
	return native.Mapping{}, &OpenError{pid, NoJVM, errors.New("has not loaded libjvm.so: it is not a JVM with HotSpot")}
}

// isNativeImage reports whether the program of a process was compiled by GraalVM's native-image. Such a program
// contains its initial heap, in a section named .svm_heap.
func isNativeImage(pid int) bool {
	p, err := foreign.Open(pid)
	if err != nil {
		return false
	}
	defer p.Close()
	f, err := p.Program()
	if err != nil {
		return false
	}
	defer f.Close()
	return hasSection(f, ".svm_heap")
}

// explain turns the error of a failed read into an OpenError, whose text says what the error means
// for the user.
func explain(pid int, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, fs.ErrNotExist):
		return &OpenError{pid, Gone, fmt.Errorf("has ended: %w", err)}
	case errors.Is(err, unix.EPERM), errors.Is(err, fs.ErrPermission):
		why, todo := whyRefused(pid)
		return &OpenError{pid, Refused, &fix.Error{Err: fmt.Errorf("can't be read: %s (%w)", why, err), Fix: todo}}
	}
	return &OpenError{pid, Unknown, fmt.Errorf("can't be read as a JVM with HotSpot: %w", err)}
}

// whyRefused returns why the kernel does not let this process read the memory of another process,
// and what to do about it. todo is "" if nothing can be done (see ptrace(2), "Ptrace access mode
// checking").
func whyRefused(pid int) (why, todo string) {
	owner := -1
	if p, err := foreign.Open(pid); err == nil {
		if status, err := p.Status(); err == nil {
			owner = status.UID
		}
		p.Close()
	}
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch yama := string(bytes.TrimSpace(scope)); {
	case foreign.MayTrace():
		return "the kernel forbids it even though this process has CAP_SYS_PTRACE (a security module, or another user namespace)", ""
	case os.Geteuid() == 0:
		return "this is root without CAP_SYS_PTRACE", "give the container that capability (docker run --cap-add SYS_PTRACE)"
	case owner != os.Geteuid():
		return "it belongs to another user", "run gasm as that user, or as root"
	case yama == "1" || yama == "2":
		return "kernel.yama.ptrace_scope is " + yama, "run gasm as root, or allow it: sudo sysctl kernel.yama.ptrace_scope=0"
	case yama == "3":
		return "kernel.yama.ptrace_scope is 3, which forbids it to all until the next boot", ""
	}
	return "it gave up the right to be read (it changed its user, or its program's file is not readable)",
		"run gasm as root"
}
