package vmstructs

import (
	"errors"
	"io"
)

// A VM is a running HotSpot whose memory can be read. It does not change and may be
// used by several goroutines.
type VM struct {
	Memory
	// Release is the feature release of the JDK: 17, 25.
	Release int

	tables tables
}

// New makes a VM of the memory of a process. Offsets of the reader are addresses in
// the process. symbol gives the address of one of the variables that libjvm.so
// exports.
func New(memory io.ReaderAt, symbol func(name string) (uint64, error)) (*VM, error) {
	vm := &VM{Memory: Memory{memory}}
	var err error
	if vm.tables, err = readTables(vm.Memory, symbol); err != nil {
		return nil, err
	}
	if vm.Release, err = vm.readRelease(); err != nil {
		return nil, err
	}
	return vm, nil
}

// Offset gives the offset of a field from the start of its structure, in bytes:
// "Method::_constMethod", "ConstMethod::_flags._flags". It is false when HotSpot's
// tables do not have the field.
func (vm *VM) Offset(field string) (offset uint64, ok bool) {
	offset, ok = vm.tables.offsets[field]
	return offset, ok
}

// Static gives the address of a static field: "CodeCache::_heaps".
func (vm *VM) Static(field string) (address uint64, ok bool) {
	address, ok = vm.tables.statics[field]
	return address, ok
}

// Size gives the size of a type in bytes: "ConstMethod", "Array<ResolvedFieldEntry>".
func (vm *VM) Size(name string) (size uint64, ok bool) {
	size, ok = vm.tables.sizes[name]
	return size, ok
}

// Int gives the value of a constant of 32 bits: "ConstMethod::_has_linenumber_table".
func (vm *VM) Int(constant string) (value int32, ok bool) {
	value, ok = vm.tables.ints[constant]
	return value, ok
}

// readRelease reads the feature release of the JDK. JDK 8 calls its HotSpot version
// 25 (Debian's 8u402 is HotSpot 25.402). It has one code heap, where newer releases
// have a list of them in CodeCache::_heaps.
func (vm *VM) readRelease() (int, error) {
	if _, ok := vm.Static("CodeCache::_heap"); ok {
		return 8, nil
	}
	at, ok := vm.Static("Abstract_VM_Version::_vm_major_version")
	if !ok {
		return 0, errors.New("HotSpot's tables do not tell its version: they have no Abstract_VM_Version::_vm_major_version")
	}
	release, err := vm.Uint32(at)
	return int(release), err
}
