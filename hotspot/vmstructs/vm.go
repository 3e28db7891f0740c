package vmstructs

import (
	"errors"
	"fmt"
	"io"
)

// A VM is a running HotSpot whose memory can be read. Several goroutines may use a VM at once.
type VM struct {
	Memory
	// Release is the feature release of the JDK: 17, 25.
	Release int

	tables  tables
	symbols func(names []string) (map[string]uint64, error)
	// variables are the address ranges of libjvm.so's own variables.
	variables [][2]uint64

	flags *flagNames
}

// New returns the VM in a process whose memory can be read with memory.ReadAt, with addresses as offsets. symbol(name)
// returns the address of a variable that libjvm.so exports.
func New(memory io.ReaderAt, symbol func(name string) (uint64, error)) (*VM, error) {
	vm := &VM{Memory: Memory{reader: memory}, flags: &flagNames{}}
	vm.symbols = func(names []string) (map[string]uint64, error) {
		found := map[string]uint64{}
		for _, name := range names {
			if at, err := symbol(name); err == nil {
				found[name] = at
			}
		}
		return found, nil
	}
	var err error
	if vm.tables, err = readTables(vm.Memory, symbol); err != nil {
		return nil, err
	}
	if vm.Release, err = vm.readRelease(); err != nil {
		return nil, err
	}
	return vm, nil
}

// A Field is a field of one of HotSpot's structures.
type Field struct {
	At   uint64 // offset in bytes from the start of the structure; for a static field, its address
	Size uint64 // in bytes; 0 if HotSpot's tables do not have the field's type
	Type string // in C++: "int", "Metadata*"; "" if HotSpot's tables do not have it
}

// In returns the value of a field of up to eight bytes from a copy of its structure, as an unsigned number. It returns
// 0 if the copy is too short for the field.
func (f Field) In(structure []byte) (value uint64) {
	if f.Size > 8 || f.At > uint64(len(structure)) || f.Size > uint64(len(structure))-f.At {
		return 0
	}
	for i, b := range structure[f.At : f.At+f.Size] {
		value |= uint64(b) << (8 * i)
	}
	return value
}

// Field returns a field, such as "nmethod::_compile_id". ok is false if HotSpot's tables do not have it.
func (vm *VM) Field(name string) (f Field, ok bool) {
	c, ok := vm.tables.offsets[name]
	return vm.field(c), ok
}

// StaticField returns a static field, such as "CodeCache::_heaps".
func (vm *VM) StaticField(name string) (f Field, ok bool) {
	c, ok := vm.tables.statics[name]
	return vm.field(c), ok
}

func (vm *VM) field(c column) Field { return Field{c.at, vm.tables.sizeOf(c.typeName), c.typeName} }

// Offset returns the offset of a field from the start of its structure, in bytes. The field's name is
// "Method::_constMethod", for example. The name of a field within a field is "ConstMethod::_flags._flags". ok is false
// if HotSpot's tables do not have the field.
func (vm *VM) Offset(field string) (offset uint64, ok bool) {
	c, ok := vm.tables.offsets[field]
	return c.at, ok
}

// Static returns the address of a static field, such as "CodeCache::_heaps".
func (vm *VM) Static(field string) (address uint64, ok bool) {
	c, ok := vm.tables.statics[field]
	return c.at, ok
}

// Size returns the size in bytes of a type, such as "ConstMethod" or "Array<ResolvedFieldEntry>".
func (vm *VM) Size(name string) (size uint64, ok bool) {
	size, ok = vm.tables.sizes[name]
	return size, ok
}

// Int returns the value of a 32-bit constant, such as "ConstMethod::_has_linenumber_table".
func (vm *VM) Int(constant string) (value int32, ok bool) {
	value, ok = vm.tables.ints[constant]
	return value, ok
}

// Symbols returns the addresses of variables and functions of libjvm.so by their linker names, such as
// "_ZN12StubCodeDesc5_listE". Each call reads the file of libjvm.so, which takes 5 ms, so ask for all names at once.
// The map does not contain symbols that the file does not have, for example because the JDK's vendor has stripped
// them.
func (vm *VM) Symbols(names ...string) (map[string]uint64, error) { return vm.symbols(names) }

// Variables returns the address ranges of libjvm.so's variables. A caller can search them for a variable that has no
// symbol.
func (vm *VM) Variables() [][2]uint64 { return vm.variables }

// readRelease reads the feature release of the JDK. The HotSpot of JDK 8 has the version 25 (Debian's 8u402 has
// HotSpot 25.402), so JDK 8 is recognized by its single code heap; newer releases have a list of heaps in
// CodeCache::_heaps.
func (vm *VM) readRelease() (int, error) {
	if _, ok := vm.Static("CodeCache::_heap"); ok {
		return 8, nil
	}
	at, ok := vm.Static("Abstract_VM_Version::_vm_major_version")
	if !ok {
		return 0, errors.New("HotSpot's tables do not have its version (Abstract_VM_Version::_vm_major_version)")
	}
	release, err := vm.Uint32(at)
	return int(release), err
}

// Version returns the JVM's version, "17.0.15+6-Debian-1deb12u1", and its longer description, which also names the
// platform: "OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1) for linux-amd64 JRE (…)". Both are "" in a JVM that
// is only just starting.
func (vm *VM) Version() (version, info string, err error) {
	if version, err = vm.staticText("Abstract_VM_Version::_s_vm_release"); err == nil {
		info, err = vm.staticText("Abstract_VM_Version::_s_internal_vm_info_string")
	}
	if err != nil {
		return "", "", fmt.Errorf("reading the JVM's version: %w", err)
	}
	return version, info, nil
}

// staticText reads the text whose address is in a static field.
func (vm *VM) staticText(field string) (string, error) {
	at, ok := vm.Static(field)
	if !ok {
		return "", fmt.Errorf("HotSpot's tables have no %s", field)
	}
	text, err := vm.Uint64(at)
	if err != nil || text == 0 {
		return "", err
	}
	return vm.Text(text)
}

// Text reads a zero-terminated string. A string longer than 255 bytes is an error.
func (m Memory) Text(addr uint64) (string, error) {
	r := pageReader{m, map[uint64][]byte{}}
	return r.text(addr)
}
