package vmstructs

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// tables are HotSpot's tables of its own data structures (vmStructs.cpp), by the
// names that C++ has for what is in them.
type tables struct {
	offsets map[string]uint64 // "Method::_constMethod": in bytes from the start of a Method
	statics map[string]uint64 // "CodeCache::_heaps": address
	sizes   map[string]uint64 // "ConstMethod": in bytes
	ints    map[string]int32  // "ConstMethod::_has_linenumber_table"
}

// readTables reads the tables. symbol gives the address of one of the variables that
// libjvm.so exports.
func readTables(memory Memory, symbol func(name string) (uint64, error)) (tables, error) {
	t := tables{offsets: map[string]uint64{}, statics: map[string]uint64{}, sizes: map[string]uint64{}, ints: map[string]int32{}}
	r := tableReader{memory: pageReader{memory, map[uint64][]byte{}}, symbol: symbol}
	r.each("gHotSpotVMStruct", []string{"TypeName", "FieldName", "IsStatic", "Offset", "Address"}, func(row []uint64) {
		name := r.text(row[0]) + "::" + r.text(row[1])
		if isStatic := uint32(row[2]) != 0; isStatic {
			t.statics[name] = row[4]
		} else {
			t.offsets[name] = row[3]
		}
	})
	r.each("gHotSpotVMType", []string{"TypeName", "Size"}, func(row []uint64) { t.sizes[r.text(row[0])] = row[1] })
	r.each("gHotSpotVMIntConstant", []string{"Name", "Value"}, func(row []uint64) { t.ints[r.text(row[0])] = int32(row[1]) })
	if r.err != nil {
		return tables{}, fmt.Errorf("reading HotSpot's tables of its structures: %w", r.err)
	}
	return t, nil
}

// A tableReader reads the tables. After its first error, which it keeps, it reads
// nothing more.
type tableReader struct {
	memory pageReader
	symbol func(string) (uint64, error)
	err    error
}

// maxRows is more than any table has. The largest of JDK 11 to 25 has 838 (JDK 11).
const maxRows = 1 << 15

// maxStride is more than the size of any table's rows, in bytes. That of
// gHotSpotVMStructs has the largest, 48.
const maxStride = 256

// each reads some columns of a table and calls take with them, once for each row.
//
// HotSpot exports the address of the first row, the size of a row and the place of
// each column. For the table "gHotSpotVMType" and the column "Size":
//
//	gHotSpotVMTypes                 the address of the first row
//	gHotSpotVMTypeEntryArrayStride  the size of a row
//	gHotSpotVMTypeEntrySizeOffset   the offset of the column Size in a row
//
// The first column must be the address of a name. It is zero in the row behind the
// last one. A value has the eight bytes at its column: those of a shorter column have
// other columns in their upper half.
func (r *tableReader) each(table string, columns []string, take func(row []uint64)) {
	at, stride := r.variable(table+"s"), r.variable(table+"EntryArrayStride")
	offsets := make([]uint64, len(columns))
	for i, c := range columns {
		offsets[i] = r.variable(table + "Entry" + c + "Offset")
	}
	if r.err == nil && (stride > maxStride || slices.Max(offsets) >= stride) {
		r.err = fmt.Errorf("%s can't have rows of %d bytes with columns at %d", table, stride, offsets)
	}
	values := make([]uint64, len(columns))
	var row [maxStride + 8]byte // a short column at a row's end has eight bytes, too
	for range maxRows {
		if r.err == nil {
			r.err = r.memory.read(row[:stride], at)
		}
		if r.err != nil {
			return
		}
		for i, offset := range offsets {
			values[i] = binary.LittleEndian.Uint64(row[offset:])
		}
		if values[0] == 0 {
			return
		}
		take(values)
		at += stride
	}
	r.err = fmt.Errorf("%s has no end: it has more than %d rows", table, maxRows)
}

// variable reads one of libjvm.so's variables, of eight bytes.
func (r *tableReader) variable(name string) uint64 {
	if r.err != nil {
		return 0
	}
	at, err := r.symbol(name)
	if err != nil {
		r.err = err
		return 0
	}
	value, err := r.memory.Uint64(at)
	r.err = err
	return value
}

func (r *tableReader) text(addr uint64) string {
	if r.err != nil {
		return ""
	}
	text, err := r.memory.text(addr)
	r.err = err
	return text
}
