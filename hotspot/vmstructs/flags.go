package vmstructs

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Flag is one of the JVM's -XX options. The name of -XX:CodeEntryAlignment is "CodeEntryAlignment".
type Flag struct {
	Name    string
	Address uint64 // where the JVM keeps the value
	// Type is "bool", "int", "uint", "intx", "uintx", "uint64_t", "size_t", "double", "ccstr" or "ccstrlist".
	Type  string
	Size  uint64 // size of the value in bytes
	Value uint64 // the number, 0 or 1 for a bool, the bits of a double, or the address of a text
	// Given is true if the flag was set on the command line, in an environment variable or in a file of options, and not
	// by HotSpot itself or while the JVM ran. It is also true if the JVM does not say who has set the flag.
	Given bool
}

// The lowest bits of JVMFlag::_flags say who has set a flag (JVMFlagOrigin, jvmFlag.hpp): 1 for the command line, 2 for an
// environment variable, 3 for a file of options.
const (
	originMask             = 15
	firstGiven, lastOfThem = 1, 3
)

// flagTypes are the types of flags. In JDK 16 and newer, HotSpot's list of flags has the type as a number, which is an
// index in flagTypes (jvmFlag.hpp). In JDK 15 and older, the list has the type's name.
var flagTypes = []string{"bool", "int", "uint", "intx", "uintx", "uint64_t", "size_t", "double", "ccstr", "ccstrlist"}

// flagSize returns the size of a flag's value in bytes, or 0 for an unknown type.
func flagSize(typeName string) uint64 {
	switch typeName {
	case "bool":
		return 1
	case "int", "uint":
		return 4
	case "intx", "uintx", "uint64_t", "size_t", "double", "ccstr", "ccstrlist":
		return 8
	}
	return 0
}

// maxFlags limits the number of flags. JDK 8 to 28 have up to 1400.
const maxFlags = 1 << 14

// Flags returns the flags with these names. Flags that this JVM does not have are not in the map.
func (vm *VM) Flags(names ...string) (map[string]Flag, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	t, err := vm.flagTable()
	if err != nil {
		return nil, fmt.Errorf("reading the JVM's flags: %w", err)
	}
	r := pageReader{vm.Memory, map[uint64][]byte{}}
	var texts []uint64
	for row := range t.rows() {
		texts = append(texts, t.name.In(row))
	}
	r.prefetch(0, texts...)
	found := map[string]Flag{}
	for row := range t.rows() {
		at := t.name.In(row)
		if at == 0 {
			continue // the last row of some releases is empty
		}
		name, err := r.text(at)
		if err != nil {
			return nil, fmt.Errorf("reading the JVM's flags: %w", err)
		}
		if !wanted[name] {
			continue
		}
		if found[name], err = vm.flag(name, row, t, &r); err != nil {
			return nil, fmt.Errorf("reading the JVM's flag %s: %w", name, err)
		}
	}
	return found, nil
}

// A flagTable is a copy of HotSpot's list of its flags (JVMFlag::flags).
type flagTable struct {
	data                []byte
	stride              uint64
	name, typ, addr     Field
	origin              Field
	hasOrigin           bool
	hasTextsAsFlagTypes bool
}

// rows yields the row of each flag.
func (t *flagTable) rows() func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for rest := t.data; uint64(len(rest)) >= t.stride; rest = rest[t.stride:] {
			if !yield(rest[:t.stride]) {
				return
			}
		}
	}
}

func (vm *VM) flagTable() (*flagTable, error) {
	class := "JVMFlag"
	if vm.Release == 8 {
		class = "Flag"
	}
	t := &flagTable{}
	var ok [7]bool
	var flags, count Field
	flags, ok[0] = vm.StaticField(class + "::flags")
	count, ok[1] = vm.StaticField(class + "::numFlags")
	t.name, ok[2] = vm.Field(class + "::_name")
	t.typ, ok[3] = vm.Field(class + "::_type")
	t.addr, ok[4] = vm.Field(class + "::_addr")
	t.stride, ok[5] = vm.Size(class)
	ok[6] = t.stride >= 24 && t.stride <= maxStride
	for _, there := range ok {
		if !there {
			return nil, errors.New("HotSpot's tables do not describe them as those of JDK 8 to 28 do")
		}
	}
	t.origin, t.hasOrigin = vm.Field(class + "::_flags")
	t.addr.Size = 8 // the field is a void*, but HotSpot's tables have no type for it
	t.hasTextsAsFlagTypes = t.typ.Size == 8
	at, err := vm.Uint64(flags.At)
	if err != nil {
		return nil, err
	}
	n, err := vm.Uint64(count.At)
	if err != nil {
		return nil, err
	}
	if n > maxFlags {
		return nil, fmt.Errorf("there can't be %d", n)
	}
	t.data, err = vm.Read(nil, at, n*t.stride)
	return t, err
}

// flag decodes the row of a flag in the table, and reads the flag's value from the JVM's memory.
func (vm *VM) flag(name string, row []byte, t *flagTable, texts *pageReader) (Flag, error) {
	f := Flag{Name: name, Address: t.addr.In(row), Given: true}
	if t.hasOrigin {
		origin := t.origin.In(row) & originMask
		f.Given = origin >= firstGiven && origin <= lastOfThem
	}
	switch number := t.typ.In(row); {
	case t.hasTextsAsFlagTypes:
		var err error
		if f.Type, err = texts.text(number); err != nil {
			return f, err
		}
	case number < uint64(len(flagTypes)):
		f.Type = flagTypes[number]
	}
	if f.Size = flagSize(f.Type); f.Size == 0 {
		return f, fmt.Errorf("it has a type that JDK 8 to 28 do not have")
	}
	var value [8]byte
	_, err := vm.Read(value[:0], f.Address, f.Size)
	f.Value = binary.LittleEndian.Uint64(value[:])
	return f, err
}
