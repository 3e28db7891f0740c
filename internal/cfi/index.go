package cfi

import (
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Open is like New, but it reads the record of a function only when the function is looked up. It finds the functions
// in the section .eh_frame_hdr, an index that linkers write (Linux Standard Base, "The .eh_frame_hdr section"). That is
// much faster than reading all records: libjvm.so has 53 000. With an index, Len may count functions that do not exist,
// and Damage covers only records that have been read. Without an index, Open reads all records, as New does.
func Open(f *elf.File) (*Table, error) {
	a, data, base, err := frameSection(f)
	if err != nil {
		return nil, err
	}
	t := emptyTable(a, data, base)
	if s := f.Section(".eh_frame_hdr"); s != nil && s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_COMPRESSED == 0 &&
		s.Size <= maxSection {
		if index, err := s.Data(); err == nil && t.readIndex(index, s.Addr) {
			return t, nil
		}
	}
	return newTable(a, data, base)
}

// The form of .eh_frame_hdr that all linkers write. Its numbers have four bytes. The addresses in its table are
// relative to the start of the section.
const (
	indexVersion   = 1
	indexCount     = 0x03 // DW_EH_PE_udata4
	indexTable     = 0x3b // DW_EH_PE_datarel | DW_EH_PE_sdata4
	indexHead      = 12   // the version, three encodings, the address of .eh_frame in four bytes, and the count
	indexEntrySize = 8    // the start of a function, and the address of its record
)

// readIndex fills the table with the functions in .eh_frame_hdr. Their sizes are not known yet. It returns false if the
// index does not have the form that linkers write.
func (t *Table) readIndex(index []byte, base uint64) bool {
	if len(index) < indexHead || index[0] != indexVersion || index[1]&0x0f != 0x0b && index[1]&0x0f != 0x03 ||
		index[2] != indexCount ||
		index[3] != indexTable {
		return false
	}
	n := int(binary.LittleEndian.Uint32(index[8:]))
	entries := index[indexHead:]
	if n == 0 || n > maxFunctions || n > len(entries)/indexEntrySize {
		return false
	}
	functions := make([]function, n)
	for i := range functions {
		entry := entries[i*indexEntrySize:]
		lo, record := base+relative(entry), base+relative(entry[4:])-t.base
		if record >= uint64(len(t.data)) || i > 0 && lo < functions[i-1].lo {
			return false
		}
		functions[i] = function{lo: lo, record: uint32(record)}
	}
	t.functions = slices.Clip(functions)
	return true
}

// relative returns a signed number of four bytes, as an offset that can be added to an address.
func relative(data []byte) uint64 { return uint64(int64(int32(binary.LittleEndian.Uint32(data)))) }

// readSize sets the size of a function in the index by reading the function's record. The size stays 0 if the record
// turns out to describe another function.
func (t *Table) readSize(f *function) {
	id, end := t.record(int(f.record))
	if end == 0 {
		t.damaged(int(f.record), "it is longer than the section")
		return
	}
	if read, ok, err := t.function(int(f.record), id, end); ok && err == nil && read.lo == f.lo {
		f.size = read.size
	}
}
