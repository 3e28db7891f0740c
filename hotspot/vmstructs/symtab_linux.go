package vmstructs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/internal/native"
)

// fileSymbols looks up symbols of libjvm.so, including symbols that the library does not export, and returns their
// addresses in the process. It reads the symbol table of the file from which libjvm.so is mapped. The result is empty
// if the JDK's vendor has stripped that table.
//
// A libjvm.so has about 100 000 symbols. Package elf would allocate a string for each name, which takes 20 ms;
// fileSymbols takes 5 ms.
func fileSymbols(m native.Mapping, names []string) (map[string]uint64, error) {
	file, _, err := native.OpenMapped(&m)
	if err != nil {
		// The reason is not wrapped, because callers of Open take fs.ErrNotExist to mean that the
		// process has ended.
		return nil, fmt.Errorf(
			"the file that the JVM loaded can't be opened (%v); if it was updated, start the JVM again", err)
	}
	defer file.Close()
	f, err := native.NewELF(file)
	if err != nil {
		return nil, err
	}
	var progs []elf.ProgHeader
	for _, p := range f.Progs {
		progs = append(progs, p.ProgHeader)
	}
	bias, err := loadBias(progs, m)
	if err != nil {
		return nil, err
	}
	section := f.SectionByType(elf.SHT_SYMTAB)
	found := map[string]uint64{}
	if section == nil || int(section.Link) >= len(f.Sections) {
		return found, nil
	}
	symbols, err := sectionData(section)
	if err != nil {
		return nil, err
	}
	texts, err := sectionData(f.Sections[section.Link])
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	longest := 0
	for _, name := range names {
		wanted[name] = true
		longest = max(longest, len(name))
	}
	for ; len(symbols) >= elf.Sym64Size; symbols = symbols[elf.Sym64Size:] {
		// st_shndx, at offset 6, is 0 for a symbol that the library uses but does not define.
		at := uint64(binary.LittleEndian.Uint32(symbols))
		if at >= uint64(len(texts)) || binary.LittleEndian.Uint16(symbols[6:]) == uint16(elf.SHN_UNDEF) {
			continue
		}
		name := texts[at:min(at+uint64(longest)+1, uint64(len(texts)))]
		if end := bytes.IndexByte(name, 0); end > 0 && wanted[string(name[:end])] {
			found[string(name[:end])] = binary.LittleEndian.Uint64(symbols[8:]) + bias
		}
	}
	return found, nil
}

// maxSection limits the size of a symbol table in bytes. The tables of JDK 25 have 5 MB.
const maxSection = 1 << 26

func sectionData(s *elf.Section) ([]byte, error) {
	if s.FileSize > maxSection || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, fmt.Errorf("its section %s can't be read: it has %d bytes", s.Name, s.FileSize)
	}
	data := make([]byte, s.FileSize)
	_, err := io.ReadFull(io.NewSectionReader(s, 0, int64(s.FileSize)), data)
	return data, err
}

// hasSection reports whether an ELF file has a section of this name.
func hasSection(r io.ReaderAt, name string) bool {
	f, err := native.NewELF(r)
	return err == nil && f.Section(name) != nil
}
