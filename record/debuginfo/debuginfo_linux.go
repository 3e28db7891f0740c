package debuginfo

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

// findFlag finds the flag DebugNonSafepoints in a JVM's memory, and reports whether it is on.
func findFlag(ctx context.Context, pid int) (address uint64, on bool, err error) {
	flag, err := vmstructs.Ask(ctx, vmstructs.FlagsTime, pid, findIn)
	return flag.Address, flag.Value == 1, err
}

// flagOf finds the flag DebugNonSafepoints in a JVM that is already open.
func flagOf(ctx context.Context, vm *vmstructs.VM) (vmstructs.Flag, error) {
	return foreign.Within(ctx, vmstructs.FlagsTime, func() (vmstructs.Flag, error) { return findIn(vm) })
}

func findIn(vm *vmstructs.VM) (vmstructs.Flag, error) {
	flags, err := vm.Flags(flagName)
	if flag, ok := flags[flagName]; ok && flag.Type == "bool" && flag.Value <= 1 || err != nil {
		return flag, err
	}
	return vmstructs.Flag{}, fmt.Errorf("this JVM has no flag %s", flagName)
}

// openMemory opens the memory of a process for writing. If the process executes another program later, the file still
// refers to the old memory (proc_mem_open in the kernel's fs/proc/base.c). Otherwise a hostile JVM could give gasm a
// wrong address of the flag, and then execute a program that runs as root: gasm would write into that program.
func openMemory(pid int) (*os.File, error) {
	p, err := foreign.Open(pid)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Memory()
}

// byteTime limits the time for reading or writing a byte of a JVM's memory. Without a limit, gasm could wait forever if
// the JVM has mapped a file at this address, from a file system that does not answer.
const byteTime = time.Second

// writeByte writes a byte into the memory of a process. If the memory no longer exists, the error is
// io.ErrUnexpectedEOF.
func writeByte(ctx context.Context, memory *os.File, address uint64, value byte) error {
	_, err := foreign.Within(ctx, byteTime, func() (int, error) {
		return memory.WriteAt([]byte{value}, int64(address))
	})
	return err
}

// readByte reads a byte from the memory of a process.
func readByte(ctx context.Context, pid int, address uint64) (byte, error) {
	return foreign.Within(ctx, byteTime, func() (value byte, err error) {
		local := []unix.Iovec{{Base: &value}}
		local[0].SetLen(1)
		_, err = unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
		return value, err
	})
}
