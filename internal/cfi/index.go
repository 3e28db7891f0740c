package cfi

import (
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Open is like New, but it reads the record of a function only when it is needed. It finds the functions in the index
// that linkers make of them, the section .eh_frame_hdr (Linux Standard Base, "The .eh_frame_hdr section"). That takes a
// fraction of the time: libjvm.so has 53 000 records. With an index, Len may count functions that do not exist, and
// Damage covers only records that have been read. Without an index, Open reads all records, as New does.
func Open(f *elf.File) (*Table, error) {
	a, data, base, err := frameSection(f)
	if err != nil {
		return nil, err
	}
	t := emptyTable(a, data, base)
	if s := f.Section(".eh_frame_hdr"); s != nil && s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_COMPRESSED == 0 && s.Size <= maxSection {
		if index, err := s.Data(); err == nil && t.readIndex(index, s.Addr) {
			return t, nil
		}
	}
	return newTable(a, data, base)
}

// The only encodings that linkers use in .eh_frame_hdr: numbers of four bytes. Those in the table are relative to the
// start of the section.
const (
	indexVersion   = 1
	indexCount     = 0x03 // DW_EH_PE_udata4
	indexTable     = 0x3b // DW_EH_PE_datarel | DW_EH_PE_sdata4
	indexHead      = 12   // the version, three encodings, the address of .eh_frame in four bytes, and the count
	indexEntrySize = 8    // the start of a function, and the address of its record
)

// readIndex fills the table with the functions of .eh_frame_hdr, whose sizes are not known yet. It returns false if the
// index has another form than the usual one.
func (t *Table) readIndex(index []byte, base uint64) bool {
	if len(index) < indexHead || index[0] != indexVersion || index[1]&0x0f != 0x0b && index[1]&0x0f != 0x03 || index[2] != indexCount ||
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

// readSize sets the size of a function that is in the index, by reading its record. The size stays 0 if the record is
// not that of this function.
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
