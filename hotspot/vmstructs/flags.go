package vmstructs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// A Flag is one of the JVM's -XX options. The name of -XX:CodeEntryAlignment is "CodeEntryAlignment".
type Flag struct {
	Name    string
	Address uint64 // where the JVM keeps the value
	// Type is "bool", "int", "uint", "intx", "uintx", "uint64_t", "size_t", "double", "ccstr" or "ccstrlist".
	Type  string
	Size  uint64 // size of the value in bytes
	Value uint64 // the number, 0 or 1 for a bool, the bits of a double, or the address of a text
	// Given is true if the flag was set on the command line, in an environment variable or in a file of options, and
	// not by HotSpot itself or while the JVM ran. It is also true if the JVM does not say who has set the flag.
	Given bool
}

// The lowest bits of JVMFlag::_flags say who has set a flag (JVMFlagOrigin, jvmFlag.hpp): 1 for the command line, 2 for
// an environment variable, 3 for a file of options.
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

// Flags returns the flags with these names. Flags that this JVM does not have are not in the map. The first call reads
// the names of all flags, which takes a millisecond. Later calls read the values alone.
func (vm *VM) Flags(names ...string) (map[string]Flag, error) {
	t, err := vm.namedFlags()
	if err != nil {
		return nil, fmt.Errorf("reading the JVM's flags: %w", err)
	}
	var there []string
	var rows []Piece
	for _, name := range names {
		if index, ok := t.index[name]; ok {
			there = append(there, name)
			rows = append(rows, Piece{t.at + uint64(index)*t.stride, make([]byte, t.stride)})
		}
	}
	if _, err := vm.Gather(rows); err != nil {
		return nil, fmt.Errorf("reading the JVM's flags: %w", err)
	}
	r := pageReader{vm.Memory, map[uint64][]byte{}}
	found := map[string]Flag{}
	for i, name := range there {
		if found[name], err = vm.flag(name, rows[i].Buf, t, &r); err != nil {
			return nil, fmt.Errorf("reading the JVM's flag %s: %w", name, err)
		}
	}
	return found, nil
}

// flagNames keeps the table of flags.
type flagNames struct {
	sync.Mutex
	table *flagTable // nil until it is needed
}

// namedFlags returns the table of flags with the index of their names. It reads them once, because they do not change.
func (vm *VM) namedFlags() (*flagTable, error) {
	vm.flags.Lock()
	defer vm.flags.Unlock()
	if vm.flags.table != nil {
		return vm.flags.table, nil
	}
	t, data, err := vm.flagTable()
	if err != nil {
		return nil, err
	}
	r := pageReader{vm.Memory, map[uint64][]byte{}}
	var texts []uint64
	for row := range t.rows(data) {
		texts = append(texts, t.name.In(row))
	}
	r.prefetch(0, texts...)
	t.index = make(map[string]int, len(texts))
	for i, at := range texts {
		if at == 0 {
			continue // in some releases, the last row is empty
		}
		name, err := r.text(at)
		if err != nil {
			return nil, err
		}
		t.index[name] = i
	}
	vm.flags.table = t
	return t, nil
}

// A flagTable describes HotSpot's list of its flags (JVMFlag::flags).
type flagTable struct {
	at                  uint64         // the address of the first row
	index               map[string]int // indexes of rows, by the names of flags
	stride              uint64         // the size of a row in bytes
	name, typ, addr     Field
	origin              Field
	hasOrigin           bool
	hasTextsAsFlagTypes bool
}

// rows yields the rows of a copy of the list.
func (t *flagTable) rows(data []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for rest := data; uint64(len(rest)) >= t.stride; rest = rest[t.stride:] {
			if !yield(rest[:t.stride]) {
				return
			}
		}
	}
}

// flagTable returns the table without its index, and a copy of the list.
func (vm *VM) flagTable() (t *flagTable, data []byte, err error) {
	class := "JVMFlag"
	if vm.Release == 8 {
		class = "Flag"
	}
	t = &flagTable{}
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
			return nil, nil, errors.New("HotSpot's tables do not describe them as those of JDK 8 to 28 do")
		}
	}
	t.origin, t.hasOrigin = vm.Field(class + "::_flags")
	t.addr.Size = 8 // the field is a void*, but HotSpot's tables have no type for it
	t.hasTextsAsFlagTypes = t.typ.Size == 8
	if t.at, err = vm.Uint64(flags.At); err != nil {
		return nil, nil, err
	}
	n, err := vm.Uint64(count.At)
	if err != nil {
		return nil, nil, err
	}
	if n > maxFlags {
		return nil, nil, fmt.Errorf("there can't be %d", n)
	}
	data, err = vm.Read(nil, t.at, n*t.stride)
	return t, data, err
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
