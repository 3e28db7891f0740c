package nmethod

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// structs are HotSpot's tables about itself (vmStructs.cpp).
type structs struct {
	fields  map[string]uint64 // "Method._constMethod": its offset in bytes
	statics map[string]uint64 // "Abstract_VM_Version::_vm_major_version": its address
	sizes   map[string]uint64 // "ConstMethod": of the type, in bytes
	ints    map[string]uint32 // "ConstMethod::_has_linenumber_table"
}

// maxEntries is more than any table has; JDK 25's largest has 2700.
const maxEntries = 1 << 15

// readStructs reads the tables. symbol gives the address of one of libjvm.so's
// symbols.
func readStructs(mem memory, symbol func(name string) (uint64, error)) (*structs, error) {
	s := &structs{fields: map[string]uint64{}, statics: map[string]uint64{}, sizes: map[string]uint64{}, ints: map[string]uint32{}}
	t := tables{mem: mem, symbol: symbol, strings: &paged{mem, map[uint64][]byte{}}}
	t.each("gHotSpotVMStruct", []string{"TypeName", "FieldName", "IsStatic", "Offset", "Address"}, func(v []uint64) {
		name := t.text(v[0]) + "." + t.text(v[1])
		if uint32(v[2]) != 0 {
			s.statics[name] = v[4]
		} else {
			s.fields[name] = v[3]
		}
	})
	t.each("gHotSpotVMType", []string{"TypeName", "Size"}, func(v []uint64) { s.sizes[t.text(v[0])] = v[1] })
	t.each("gHotSpotVMIntConstant", []string{"Name", "Value"}, func(v []uint64) { s.ints[t.text(v[0])] = uint32(v[1]) })
	if t.err != nil {
		return nil, fmt.Errorf("reading HotSpot's tables about itself: %w", t.err)
	}
	return s, nil
}

// tables reads them; the first error stays.
type tables struct {
	mem     memory
	symbol  func(string) (uint64, error)
	strings *paged
	err     error
}

func (t *tables) text(addr uint64) string {
	s, err := t.strings.text(addr)
	t.fail(err)
	return s
}

func (t *tables) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// value reads one of libjvm.so's variables.
func (t *tables) value(name string) uint64 {
	at, err := t.symbol(name)
	if err != nil {
		t.fail(err)
		return 0
	}
	v, err := t.mem.word(at)
	t.fail(err)
	return v
}

// each calls take with some columns of each entry of a table: "gHotSpotVMTypes"
// is the table, "gHotSpotVMTypeEntryArrayStride" the size of an entry,
// "gHotSpotVMTypeEntrySizeOffset" where its column Size is. The first column
// is a name, which the entry behind the last one lacks. Values of less than
// eight bytes have others behind them.
func (t *tables) each(table string, columns []string, take func(values []uint64)) {
	at, stride := t.value(table+"s"), t.value(table+"EntryArrayStride")
	offsets := make([]uint64, len(columns))
	for i, c := range columns {
		offsets[i] = t.value(table + "Entry" + c + "Offset")
	}
	if t.err == nil && (stride == 0 || stride > 256 || slices.Max(offsets) >= stride) {
		t.fail(fmt.Errorf("%s has entries of %d bytes", table, stride))
	}
	values := make([]uint64, len(columns))
	entry := make([]byte, min(stride, 256)+8) // some behind a value of four bytes at its end
	for range maxEntries {
		if t.err != nil {
			return
		}
		if _, err := t.mem.read(entry, at, stride); err != nil {
			t.fail(err)
			return
		}
		for i, o := range offsets {
			values[i] = binary.LittleEndian.Uint64(entry[o:])
		}
		if values[0] == 0 {
			return
		}
		take(values)
		at += stride
	}
	t.fail(fmt.Errorf("%s has no end", table))
}
