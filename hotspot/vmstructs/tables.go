package vmstructs

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// tables are HotSpot's tables of its own data structures (vmStructs.cpp). The keys are C++ names.
type tables struct {
	offsets map[string]column // "Method::_constMethod": in bytes from the start of a Method
	statics map[string]column // "CodeCache::_heaps": address
	sizes   map[string]uint64 // "ConstMethod": in bytes
	ints    map[string]int32  // "ConstMethod::_has_linenumber_table"
}

// A column says where a field is, and what its C++ type is, such as "int" or "Metadata*". typeName is "" for the
// fields for which HotSpot's tables have no type.
type column struct {
	at       uint64 // offset in bytes; for a static field, its address
	typeName string
}

// readTables reads the tables. symbol returns the address of a variable that libjvm.so exports.
//
// The rows of all tables are read first, and then all texts that they refer to. That takes about ten system calls.
func readTables(memory Memory, symbol func(name string) (uint64, error)) (tables, error) {
	t := tables{offsets: map[string]column{}, statics: map[string]column{}, sizes: map[string]uint64{},
		ints: map[string]int32{}}
	r := tableReader{memory: pageReader{memory, map[uint64][]byte{}}, symbol: symbol}
	fields := r.rows("gHotSpotVMStruct", "TypeName", "FieldName", "TypeString", "IsStatic", "Offset", "Address")
	types := r.rows("gHotSpotVMType", "TypeName", "Size")
	ints := r.rows("gHotSpotVMIntConstant", "Name", "Value")
	r.memory.prefetch(0, r.texts...)
	for _, row := range fields {
		name := r.text(row[0]) + "::" + r.text(row[1])
		c := column{}
		if row[2] != 0 {
			c.typeName = r.text(row[2])
		}
		if isStatic := uint32(row[3]) != 0; isStatic {
			c.at = row[5]
			t.statics[name] = c
		} else {
			c.at = row[4]
			t.offsets[name] = c
		}
	}
	for _, row := range types {
		t.sizes[r.text(row[0])] = row[1]
	}
	for _, row := range ints {
		t.ints[r.text(row[0])] = int32(row[1])
	}
	if r.err != nil {
		return tables{}, fmt.Errorf("reading HotSpot's tables of its structures: %w", r.err)
	}
	return t, nil
}

// sizeOf returns the size of a C++ type in bytes, or 0 if the size is not known.
func (t *tables) sizeOf(typeName string) uint64 {
	name := strings.TrimSpace(typeName)
	if strings.HasSuffix(name, "*") {
		return 8
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "volatile "), "const ")
	name = strings.TrimSuffix(name, " const")
	switch name {
	case "signed char", "unsigned char": // HotSpot's table of types lacks signed char
		return 1
	}
	return t.sizes[name]
}

// A tableReader reads the tables. It keeps its first error, and reads nothing more after it.
type tableReader struct {
	memory pageReader
	symbol func(string) (uint64, error)
	texts  []uint64 // addresses of the texts of all rows
	err    error
}

// maxRows limits the number of rows of a table. The largest table of JDK 11 to 25 has 838 rows (JDK 11).
const maxRows = 1 << 15

// maxStride limits the size of a table's rows in bytes. The rows of gHotSpotVMStructs are the largest, with 48 bytes.
const maxStride = 256

// rows reads some columns of a table.
//
// HotSpot exports the address of the first row, the size of a row and the offset of each column. For the table
// "gHotSpotVMType" and the column "Size":
//
//	gHotSpotVMTypes                 the address of the first row
//	gHotSpotVMTypeEntryArrayStride  the size of a row
//	gHotSpotVMTypeEntrySizeOffset   the offset of the column Size in a row
//
// The first column must be the address of a name. In the row after the table's last row, this address is zero. Each
// value in the result is the eight bytes at the offset of its column. If the column is shorter, the upper bytes of the
// value belong to other columns.
func (r *tableReader) rows(table string, columns ...string) (rows [][]uint64) {
	at, stride := r.variable(table+"s"), r.variable(table+"EntryArrayStride")
	offsets := make([]uint64, len(columns))
	for i, c := range columns {
		offsets[i] = r.variable(table + "Entry" + c + "Offset")
	}
	if r.err == nil && (stride > maxStride || slices.Max(offsets) >= stride) {
		r.err = fmt.Errorf("%s can't have rows of %d bytes with columns at %d", table, stride, offsets)
	}
	var row [maxStride + 8]byte // a short column at the end of a row is read as eight bytes, too
	for range maxRows {
		if r.err != nil {
			return nil
		}
		if !r.memory.has(at) {
			r.memory.prefetch(ahead, at)
		}
		if r.err = r.memory.read(row[:stride], at); r.err != nil {
			return nil
		}
		values := make([]uint64, len(columns))
		for i, offset := range offsets {
			values[i] = binary.LittleEndian.Uint64(row[offset:])
			if strings.HasSuffix(columns[i], "Name") || columns[i] == "TypeString" {
				r.texts = append(r.texts, values[i])
			}
		}
		if values[0] == 0 {
			return rows
		}
		rows = append(rows, values)
		at += stride
	}
	r.err = fmt.Errorf("%s has no end: it has more than %d rows", table, maxRows)
	return nil
}

// ahead is the number of pages that are read in advance when a table is read. Together with the current page they hold
// the largest table, which has 41 kB.
const ahead = 12

// variable reads an eight-byte variable of libjvm.so.
func (r *tableReader) variable(name string) uint64 {
	if r.err != nil {
		return 0
	}
	at, err := r.symbol(name)
	if err != nil {
		r.err = err
		return 0
	}
	var value [8]byte
	r.err = r.memory.read(value[:], at)
	return binary.LittleEndian.Uint64(value[:])
}

func (r *tableReader) text(addr uint64) string {
	if r.err != nil {
		return ""
	}
	text, err := r.memory.text(addr)
	r.err = err
	return text
}
