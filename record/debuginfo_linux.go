package record

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// findDebugInfoFlag finds the flag in a JVM's memory, and tells whether it is on.
func findDebugInfoFlag(pid int) (address uint64, on bool, err error) {
	vm, err := vmstructs.Open(pid)
	if err != nil {
		return 0, false, err
	}
	flags, err := vm.Flags(debugInfoFlag)
	if err != nil {
		return 0, false, err
	}
	flag, ok := flags[debugInfoFlag]
	if !ok || flag.Type != "bool" || flag.Value > 1 {
		return 0, false, fmt.Errorf("this JVM has no flag %s", debugInfoFlag)
	}
	return flag.Address, flag.Value == 1, nil
}

// writeByte writes into the memory of a process.
func writeByte(pid int, address uint64, value byte) error {
	local := []unix.Iovec{{Base: &value}}
	local[0].SetLen(1)
	_, err := unix.ProcessVMWritev(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
	return err
}

// readByte reads from the memory of a process.
func readByte(pid int, address uint64) (value byte, err error) {
	local := []unix.Iovec{{Base: &value}}
	local[0].SetLen(1)
	_, err = unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
	return value, err
}
