package native

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

const (
	// longestSection is more than any section has that is read, in bytes. The symbols of a
	// browser have some hundred MB.
	longestSection = 1 << 30
	// longestSymbol is more than any name in a symbol table has, in bytes.
	longestSymbol = 1 << 16
	// longestUnsized is how far a function without a size goes at most, in bytes.
	longestUnsized = 1 << 12
)

// A symbol is a function in a symbol table. Its name shares the memory of the table.
type symbol struct {
	lo, hi  uint64 // of a function without a size, hi is how far it goes at most
	name    string
	binding uint8 // 0 global, 1 weak, 2 local
	unsized bool  // the table does not tell the size
}

// A symbolTable is what is used of a symbol table of ELF.
type symbolTable struct {
	functions []symbol
	names     []string // of all defined symbols, functions or not
}

// readSymbols reads the first symbol table of a kind, SHT_SYMTAB or SHT_DYNSYM. For a
// file without one it gives an empty table and no error.
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
	text, err := sectionData(f.Sections[section.Link], size)
	if err != nil {
		return symbolTable{}, err
	}
	names := string(text)

	entry := elf.Sym64Size
	if f.Class == elf.ELFCLASS32 {
		entry = elf.Sym32Size
	}
	var t symbolTable
	for ; len(data) >= entry; data = data[entry:] {
		s := parseSymbol(f, data)
		if s.Shndx == uint16(elf.SHN_UNDEF) || uint64(s.Name) >= uint64(len(names)) {
			continue
		}
		name := names[s.Name:]
		end := strings.IndexByte(name[:min(len(name), longestSymbol)], 0)
		if end <= 0 {
			continue
		}
		name = name[:end]
		t.names = append(t.names, name)
		if fn, ok := function(f, s); ok && !(fn.unsized && startup[name]) {
			fn.name = name
			t.functions = append(t.functions, fn)
		}
	}
	return t, nil
}

// parseSymbol decodes the entry at the start of data, of 32 or 64 bits.
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

// function tells whether a symbol is a function, and which addresses it has. A function
// in assembler may have no type, or no size. A symbol without both is a label.
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

// startup has the functions of gcc's crtbegin.o and its kin. They stand first in a file
// and have no size. Their names would be given to padding, and to functions behind them
// whose symbols were stripped.
var startup = map[string]bool{
	"deregister_tm_clones": true, "register_tm_clones": true, "__do_global_dtors_aux": true, "frame_dummy": true,
	"call_weak_fn": true, "_init": true, "_fini": true,
}

// prefer compares two symbols at one address. The one whose name is to be shown comes
// first.
func prefer(a, b *symbol) int {
	return cmp.Or(
		cmp.Compare(a.binding, b.binding),
		cmp.Compare(underscores(a.name), underscores(b.name)),
		cmp.Compare(len(a.name), len(b.name)),
		cmp.Compare(a.name, b.name),
	)
}

func underscores(name string) int { return len(name) - len(strings.TrimLeft(name, "_")) }

// A piece is a function, or a part of one: a function in which others start has a piece
// before, between and behind them.
type piece struct {
	lo, hi    uint64
	name      string
	demangled bool
}

// arrange makes a sorted list of pieces without overlaps. At each address it has the
// function that starts last; of those that start together, the preferred one. A function
// without a size ends where the next one starts. It never hides a part of a function that
// has a size. The symbols are sorted in place.
func arrange(symbols []symbol) []piece {
	slices.SortFunc(symbols, func(a, b symbol) int {
		if a.lo != b.lo {
			return cmp.Compare(a.lo, b.lo)
		}
		return prefer(&b, &a)
	})
	spans := make([]span, 0, len(symbols))
	next := ^uint64(0) // the next address above this one at which a symbol starts
	for i := len(symbols) - 1; i >= 0; i-- {
		s := symbols[i]
		if i+1 < len(symbols) && symbols[i+1].lo > s.lo {
			next = symbols[i+1].lo
		}
		if s.unsized {
			spans = append(spans, span{s.lo, min(s.hi, next), int32(i)})
		}
	}
	slices.Reverse(spans)
	for i, s := range symbols {
		if !s.unsized {
			spans = append(spans, span{s.lo, s.hi, int32(i)})
		}
	}
	flat := flatten(spans)
	pieces := make([]piece, len(flat))
	for i, s := range flat {
		pieces[i] = piece{lo: s.lo, hi: s.hi, name: symbols[s.id].name}
	}
	return pieces
}

// sectionData reads a section of a file of the given size in bytes.
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

// buildID gives the id that the linker gave to this build of the file, nil without one.
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
