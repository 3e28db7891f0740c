package native

import (
	"bytes"
	"debug/elf"
	"fmt"
)

const (
	// longestSection is an upper bound for the size of a section, in bytes; a larger one is an error. The symbols of a
	// browser have some hundred MB.
	longestSection = 1 << 30
	// longestSymbol is an upper bound for the length of a name in a symbol table, in bytes. A longer name is read as
	// "".
	longestSymbol = 1 << 16
	// longestUnsized is the largest extent of a function without a size, in bytes.
	longestUnsized = 1 << 12
)

// A symbol is a function in a symbol table. It has no pointers, so that the garbage collector need not look at the ten
// thousands of symbols of a library.
type symbol struct {
	lo, hi  uint64 // if unsized, hi is the largest possible end
	name    nameAt
	binding uint8 // 0 global, 1 weak, 2 local
	unsized bool  // the table does not have the size
}

// names has the texts with the names of several symbol tables. A name ends at a zero byte.
type names [][]byte

// A nameAt is the position of a name in names.
type nameAt struct {
	offset uint32
	table  uint8
}

// at returns a name without copying it. It returns an empty name if the name has no end.
func (n names) at(a nameAt) []byte {
	text := n[a.table][a.offset:]
	return text[:max(0, bytes.IndexByte(text[:min(len(text), longestSymbol)], 0))]
}

// A symbolTable is what is needed of an ELF symbol table.
type symbolTable struct {
	functions []symbol
	text      []byte   // the names
	defined   []nameAt // in a dynamic table: all defined symbols, functions or not
}

// readSymbols reads the first symbol table of a kind, SHT_SYMTAB or SHT_DYNSYM. If the file has none, it returns an
// empty table and no error.
func readSymbols(f *elf.File, size int64, kind elf.SectionType) (symbolTable, error) {
	section := f.SectionByType(kind)
	if section == nil {
		return symbolTable{}, nil
	}
	data, err := sectionData(section, size)
	if err != nil {
		return symbolTable{}, err
	}
	if int64(section.Link) >= int64(len(f.Sections)) {
		return symbolTable{}, fmt.Errorf("section %s has no names", section.Name)
	}
	var t symbolTable
	if t.text, err = sectionData(f.Sections[section.Link], size); err != nil {
		return symbolTable{}, err
	}

	entry := elf.Sym64Size
	if f.Class == elf.ELFCLASS32 {
		entry = elf.Sym32Size
	}
	texts := names{t.text}
	t.functions = make([]symbol, 0, len(data)/entry)
	for ; len(data) >= entry; data = data[entry:] {
		s := parseSymbol(f, data)
		if s.Shndx == uint16(elf.SHN_UNDEF) || uint64(s.Name) >= uint64(len(t.text)) {
			continue
		}
		at := nameAt{offset: s.Name}
		name := texts.at(at)
		if len(name) == 0 {
			continue
		}
		if kind == elf.SHT_DYNSYM {
			t.defined = append(t.defined, at)
		}
		if fn, ok := function(f, s); ok && !(fn.unsized && startup[string(name)]) {
			fn.name = at
			t.functions = append(t.functions, fn)
		}
	}
	return t, nil
}

// parseSymbol decodes the 32-bit or 64-bit entry at the start of data.
func parseSymbol(f *elf.File, data []byte) elf.Sym64 {
	o := f.ByteOrder
	if f.Class == elf.ELFCLASS32 {
		return elf.Sym64{
			Name: o.Uint32(data), Value: uint64(o.Uint32(data[4:])), Size: uint64(o.Uint32(data[8:])),
			Info: data[12], Other: data[13], Shndx: o.Uint16(data[14:]),
		}
	}
	return elf.Sym64{
		Name: o.Uint32(data), Info: data[4], Other: data[5], Shndx: o.Uint16(data[6:]),
		Value: o.Uint64(data[8:]), Size: o.Uint64(data[16:]),
	}
}

// function returns a symbol's address range, and whether the symbol is a function. A function in assembler may have no
// type, or no size. A symbol without both is a label.
func function(f *elf.File, s elf.Sym64) (symbol, bool) {
	fn := symbol{lo: s.Value, hi: s.Value + s.Size, unsized: s.Size == 0}
	index := elf.SectionIndex(s.Shndx)
	var section *elf.Section // nil for SHN_ABS and the like
	if index < elf.SHN_LORESERVE && int(index) < len(f.Sections) {
		section = f.Sections[index]
	}
	executable := section != nil && section.Flags&elf.SHF_EXECINSTR != 0

	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		if index == elf.SHN_ABS || index == elf.SHN_COMMON || fn.unsized && !executable {
			return symbol{}, false
		}
	case elf.STT_NOTYPE:
		if !executable || fn.unsized {
			return symbol{}, false
		}
	default:
		return symbol{}, false
	}
	if fn.unsized {
		fn.hi = min(section.Addr+section.Size, fn.lo+longestUnsized)
	}
	switch elf.ST_BIND(s.Info) {
	case elf.STB_LOCAL:
		fn.binding = 2
	case elf.STB_WEAK:
		fn.binding = 1
	}
	return fn, fn.lo < fn.hi
}

// startup has the functions of gcc's crtbegin.o and similar files. They come first in a file and have no size. Without
// this list their names would also cover padding, and functions after them whose symbols were stripped.
var startup = map[string]bool{
	"deregister_tm_clones": true, "register_tm_clones": true, "__do_global_dtors_aux": true, "frame_dummy": true,
	"call_weak_fn": true, "_init": true, "_fini": true,
}

// sectionData reads a section of a file. size is the file's size in bytes.
func sectionData(s *elf.Section, size int64) ([]byte, error) {
	switch {
	case s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL:
		return nil, fmt.Errorf("section %s is empty", s.Name)
	case s.Flags&elf.SHF_COMPRESSED != 0:
		return nil, fmt.Errorf("section %s is compressed", s.Name)
	case s.FileSize > longestSection || s.FileSize > uint64(size) || s.Offset > uint64(size)-s.FileSize:
		return nil, fmt.Errorf("section %s goes beyond the file's end", s.Name)
	}
	data := make([]byte, s.FileSize)
	if _, err := s.ReaderAt.ReadAt(data, 0); err != nil && len(data) > 0 {
		return nil, err
	}
	return data, nil
}

// buildID returns the id that the linker gave to this build of the file, nil if it has none.
func buildID(f *elf.File, size int64) []byte {
	section := f.Section(".note.gnu.build-id")
	if section == nil || section.FileSize > 1<<12 {
		return nil
	}
	data, err := sectionData(section, size)
	if err != nil || len(data) < 16 {
		return nil
	}
	o := f.ByteOrder
	nameSize, idSize, kind := o.Uint32(data), o.Uint32(data[4:]), o.Uint32(data[8:])
	const gnuBuildID = 3
	if nameSize != 4 || kind != gnuBuildID || !bytes.Equal(data[12:16], []byte("GNU\x00")) {
		return nil
	}
	id := data[16:]
	if idSize < 2 || uint64(idSize) > uint64(len(id)) {
		return nil
	}
	return id[:idSize]
}
