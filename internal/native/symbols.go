package native

import (
	"bytes"
	"debug/elf"
	"fmt"
	"unsafe"
)

const (
	// Limits for the sizes of a symbol table and of its names, in bytes. A larger table is an error. For comparison, a
	// Chromium of 300 MB has a symbol table of 40 MB and names of 120 MB.
	longestTable = 128 << 20
	longestNames = 256 << 20
	// longestSection limits the size of a packed .gnu_debugdata section, in bytes. A larger section is an error. The
	// largest .gnu_debugdata sections in use are a few MB.
	longestSection = 32 << 20
	// symbolMemory is the number of bytes that sorting the functions of a file takes for each of them.
	symbolMemory = 224
	// longestSymbol limits the length of a name in a symbol table, in bytes. Longer names are read as "".
	longestSymbol = 1 << 16
	// longestUnsized is the maximum size of a function that has no size in the symbol table, in bytes.
	longestUnsized = 1 << 12
)

// A symbol is a function in a symbol table. It has no pointers, because a library has tens of thousands of symbols, and
// the garbage collector would have to scan them.
type symbol struct {
	lo, hi  uint64 // if unsized, hi is the largest possible end
	name    nameAt
	binding uint8 // 0 global, 1 weak, 2 local; not the ELF value, but the order for prefer
	unsized bool  // true if the symbol table has no size for the function
}

// names has the string tables of several symbol tables. Each name ends with a zero byte.
type names [][]byte

// A nameAt is the position of a name in names: the index of the table, and the offset in that table.
type nameAt struct {
	offset uint32
	table  uint8
}

// at returns a name without copying it. If there is no zero byte within longestSymbol bytes, it returns an empty name.
func (n names) at(a nameAt) []byte {
	text := n[a.table][a.offset:]
	return text[:max(0, bytes.IndexByte(text[:min(len(text), longestSymbol)], 0))]
}

// A symbolTable has the parts of an ELF symbol table that this package needs.
type symbolTable struct {
	functions []symbol
	text      []byte   // the names
	defined   []nameAt // all defined symbols, functions or not; only for a dynamic table
}

// symbols reads the first symbol table of a kind, SHT_SYMTAB or SHT_DYNSYM. If the file has none, it returns an empty
// table and no error.
func (o object) symbols(kind elf.SectionType) (symbolTable, error) {
	section := o.SectionByType(kind)
	if section == nil {
		return symbolTable{}, nil
	}
	if int64(section.Link) >= int64(len(o.Sections)) {
		return symbolTable{}, fmt.Errorf("section %s has no names", section.Name)
	}
	data, err := o.data(section, longestTable)
	if err != nil {
		return symbolTable{}, err
	}
	defer o.load.give(int64(len(data)))
	var t symbolTable
	if t.text, err = o.data(o.Sections[section.Link], longestNames); err != nil {
		return symbolTable{}, err
	}
	defined, functions, err := o.count(data, kind)
	if err == nil {
		err = o.load.take(int64(defined)*int64(unsafe.Sizeof(nameAt{})) + int64(functions)*symbolMemory)
	}
	if err != nil {
		return symbolTable{}, fmt.Errorf("section %s: %w", section.Name, err)
	}
	texts := names{t.text}
	t.functions = make([]symbol, 0, functions)
	t.defined = make([]nameAt, 0, defined)
	for ; len(data) >= o.symbolSize(); data = data[o.symbolSize():] {
		if err := o.load.over(); err != nil {
			return symbolTable{}, err
		}
		s := parseSymbol(o.File, data)
		if s.Shndx == uint16(elf.SHN_UNDEF) || uint64(s.Name) >= uint64(len(t.text)) {
			continue
		}
		fn, ok := function(o.File, s)
		if !ok && kind != elf.SHT_DYNSYM {
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
		if ok && !(fn.unsized && startup[string(name)]) {
			fn.name = at
			t.functions = append(t.functions, fn)
		}
	}
	return t, nil
}

// symbolSize returns the size of an entry of a symbol table, in bytes.
func (o object) symbolSize() int {
	if o.Class == elf.ELFCLASS32 {
		return elf.Sym32Size
	}
	return elf.Sym64Size
}

// count returns an upper bound for the number of defined symbols in the table, and one for the number of functions.
func (o object) count(data []byte, kind elf.SectionType) (defined, functions int, err error) {
	for ; len(data) >= o.symbolSize(); data = data[o.symbolSize():] {
		if err := o.load.over(); err != nil {
			return 0, 0, err
		}
		s := parseSymbol(o.File, data)
		if s.Shndx == uint16(elf.SHN_UNDEF) {
			continue
		}
		if kind == elf.SHT_DYNSYM {
			defined++
		}
		if _, ok := function(o.File, s); ok {
			functions++
		}
	}
	return defined, functions, nil
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

// function converts an ELF symbol to a symbol without a name. It returns false if the ELF symbol is not a function.
// Functions in assembler may lack a type or a size. If a symbol lacks both, it is just a label.
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

// startup has the functions of gcc's crtbegin.o and similar files. They come first in a file and have no size. They are
// left out, because otherwise their ranges would include the padding after them. They might even include the next
// functions, if the symbols of those were stripped.
var startup = map[string]bool{
	"deregister_tm_clones": true, "register_tm_clones": true, "__do_global_dtors_aux": true, "frame_dummy": true,
	"call_weak_fn": true, "_init": true, "_fini": true,
}

// data reads a section. It returns an error if the section has more than limit bytes. It takes the memory for the data
// from o.load.
func (o object) data(s *elf.Section, limit uint64) ([]byte, error) {
	switch {
	case s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL:
		return nil, fmt.Errorf("section %s is empty", s.Name)
	case s.Flags&elf.SHF_COMPRESSED != 0:
		return nil, fmt.Errorf("section %s is compressed", s.Name)
	case s.FileSize > uint64(o.size) || s.Offset > uint64(o.size)-s.FileSize:
		return nil, fmt.Errorf("section %s goes beyond the file's end", s.Name)
	case s.FileSize > limit:
		return nil, fmt.Errorf("section %s has %d MiB, and at most %d MiB are read", s.Name, s.FileSize>>20, limit>>20)
	}
	if err := o.load.take(int64(s.FileSize)); err != nil {
		return nil, fmt.Errorf("section %s: %w", s.Name, err)
	}
	data := make([]byte, s.FileSize)
	if _, err := s.ReaderAt.ReadAt(data, 0); err != nil && len(data) > 0 {
		return nil, err
	}
	return data, nil
}

// buildID returns the id that the linker gave to this build of the file, or nil if the file has no such id.
func (o object) buildID() []byte {
	section := o.Section(".note.gnu.build-id")
	if section == nil {
		return nil
	}
	data, err := o.data(section, 1<<12)
	if err != nil || len(data) < 16 {
		return nil
	}
	order := o.ByteOrder
	nameSize, idSize, kind := order.Uint32(data), order.Uint32(data[4:]), order.Uint32(data[8:])
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
