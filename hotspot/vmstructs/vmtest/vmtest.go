// Package vmtest builds the memory of a HotSpot process by hand, for tests that do without a JVM.
//
//	m := vmtest.New()
//	method := m.Add(…)
//	symbols := m.AddTables(vmtest.Tables{Offsets: map[string]uint64{"Method::_constMethod": 8}})
//	vm, err := vmstructs.New(m, symbols.Address)
package vmtest

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Base is the lowest address of a Memory.
const Base = 0x10000

// pageSize is the size of a page in bytes. Memory can be read up to the end of its last page.
const pageSize = 1 << 12

// A Memory is the memory of a process. It begins at the address Base and grows at its end. It implements io.ReaderAt,
// with addresses as offsets.
type Memory struct{ Data []byte }

// New returns an empty Memory.
func New() *Memory { return &Memory{} }

// ReadAt reads len(buf) bytes at an address. The bytes between the end of the data and the end of its last page are
// zero. A read that goes beyond the memory returns io.ErrUnexpectedEOF.
func (m *Memory) ReadAt(buf []byte, addr int64) (int, error) {
	end := Base + (int64(len(m.Data))+pageSize-1)&^(pageSize-1)
	if addr < Base || addr >= end || int64(len(buf)) > end-addr {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(buf, m.Data[min(int(addr-Base), len(m.Data)):])
	clear(buf[n:])
	return len(buf), nil
}

// Add adds bytes at the next multiple of eight and returns their address.
func (m *Memory) Add(data ...byte) (addr uint64) {
	m.Data = append(m.Data, make([]byte, -len(m.Data)&7)...)
	addr = Base + uint64(len(m.Data))
	m.Data = append(m.Data, data...)
	return addr
}

// AddUint64 adds numbers of eight bytes, little-endian, and returns the address of the first one.
func (m *Memory) AddUint64(numbers ...uint64) (addr uint64) {
	var data []byte
	for _, n := range numbers {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	return m.Add(data...)
}

// AddText adds a zero-terminated string and returns its address.
func (m *Memory) AddText(text string) (addr uint64) { return m.Add(append([]byte(text), 0)...) }

// Tables is the content of HotSpot's tables that describe its own structures (gHotSpotVMStructs and others). The keys
// are the names that package vmstructs uses, such as "Method::_constMethod".
type Tables struct {
	Offsets map[string]uint64 // offsets of fields
	Statics map[string]uint64 // addresses of static fields
	Sizes   map[string]uint64 // sizes of types, in bytes
	Ints    map[string]int32
	// Types are the types of fields and static fields. Some fields have no entry, because HotSpot leaves their types
	// out.
	Types map[string]string
}

// Symbols are the addresses of the variables that libjvm.so exports.
type Symbols map[string]uint64

// Address returns the address of a symbol, or an error if there is no such symbol.
func (s Symbols) Address(name string) (uint64, error) {
	if addr, ok := s[name]; ok {
		return addr, nil
	}
	return 0, fmt.Errorf("no symbol %s", name)
}

// A row is one row of a table. It has the values of the columns, by the column's name.
type row map[string]uint64

// AddTables adds the tables, and the variables that point to them. The rows have the layout that vmStructs.hpp defines
// on 64-bit machines. AddTables returns the addresses of the variables.
func (m *Memory) AddTables(t Tables) Symbols {
	symbols := Symbols{}
	var structs, types, ints []row
	for _, name := range slices.Sorted(maps.Keys(t.Offsets)) {
		structs = append(structs, m.field(name, t.Types[name], row{"Offset": t.Offsets[name]}))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Statics)) {
		structs = append(structs, m.field(name, t.Types[name], row{"IsStatic": 1, "Address": t.Statics[name]}))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Sizes)) {
		types = append(types, row{"TypeName": m.AddText(name), "Size": t.Sizes[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Ints)) {
		ints = append(ints, row{"Name": m.AddText(name), "Value": uint64(uint32(t.Ints[name]))})
	}
	m.addTable(symbols, "gHotSpotVMStruct", 48,
		row{"TypeName": 0, "FieldName": 8, "TypeString": 16, "IsStatic": 24, "Offset": 32, "Address": 40}, structs)
	m.addTable(symbols, "gHotSpotVMType", 32, row{"TypeName": 0, "SuperclassName": 8, "Size": 24}, types)
	m.addTable(symbols, "gHotSpotVMIntConstant", 16, row{"Name": 0, "Value": 8}, ints)
	return symbols
}

// field completes the row of a field, such as "Method::_constMethod". It adds the names of the class and of the field,
// and the field's type, to the given columns, and returns them. If the type is unknown, typeString is "".
func (m *Memory) field(name, typeString string, columns row) row {
	typeName, fieldName, ok := strings.Cut(name, "::")
	if !ok {
		panic("vmtest: not a field's name: " + name)
	}
	columns["TypeName"], columns["FieldName"] = m.AddText(typeName), m.AddText(fieldName)
	if typeString != "" {
		columns["TypeString"] = m.AddText(typeString)
	}
	return columns
}

// addTable adds one table, which ends with a row of zeros, and the variables that locate it. stride is the size of a
// row in bytes, and offsets are the offsets of the columns in a row.
func (m *Memory) addTable(symbols Symbols, name string, stride uint64, offsets row, rows []row) {
	data := make([]byte, stride*uint64(len(rows)+1))
	for i, columns := range rows {
		for column, value := range columns {
			binary.LittleEndian.PutUint64(data[uint64(i)*stride+offsets[column]:], value)
		}
	}
	symbols[name+"s"] = m.AddUint64(m.Add(data...))
	symbols[name+"EntryArrayStride"] = m.AddUint64(stride)
	for _, column := range slices.Sorted(maps.Keys(offsets)) {
		symbols[name+"Entry"+column+"Offset"] = m.AddUint64(offsets[column])
	}
}
