package record

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

// findDebugInfoFlag finds the flag in a JVM's memory, and reports whether it is on.
func findDebugInfoFlag(ctx context.Context, pid int) (address uint64, on bool, err error) {
	flag, err := vmstructs.Ask(ctx, vmstructs.FlagsTime, pid, func(vm *vmstructs.VM) (vmstructs.Flag, error) {
		flags, err := vm.Flags(debugInfoFlag)
		if flag, ok := flags[debugInfoFlag]; ok && flag.Type == "bool" && flag.Value <= 1 || err != nil {
			return flag, err
		}
		return vmstructs.Flag{}, fmt.Errorf("this JVM has no flag %s", debugInfoFlag)
	})
	return flag.Address, flag.Value == 1, err
}

// openMemory opens the memory of a process for writing. What the process runs later, by exec, has another memory: a program of
// root's too, which the address of a flag, as the JVM's user says it, must not lead into (proc_mem_open in the kernel's
// fs/proc/base.c).
func openMemory(pid int) (*os.File, error) {
	p, err := foreign.Open(pid)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Memory()
}

// byteTime is how long a byte of a JVM's memory may take to be read or written: the JVM may have mapped a file there by now
// whose file system does not answer. After a signal to stop it is waited for, too.
const byteTime = time.Second

// writeByte writes into the memory of a process. The error of one whose memory is gone is io.ErrUnexpectedEOF.
func writeByte(memory *os.File, address uint64, value byte) error {
	_, err := foreign.Within(context.Background(), byteTime, func() (int, error) {
		return memory.WriteAt([]byte{value}, int64(address))
	})
	return err
}

// readByte reads from the memory of a process.
func readByte(pid int, address uint64) (byte, error) {
	return foreign.Within(context.Background(), byteTime, func() (value byte, err error) {
		local := []unix.Iovec{{Base: &value}}
		local[0].SetLen(1)
		_, err = unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
		return value, err
	})
}
