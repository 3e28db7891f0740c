package native

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

// Limits for the tables of an ELF file. A larger table is an error. For comparison, libjvm.so has about 40 sections
// with 400 bytes of names, and ten program headers. Package elf allocates a string for the name of each section. With
// these limits, all these strings take at most maxSections times maxSectionNames bytes, which is 64 MB.
const (
	maxSections     = 1 << 10
	maxSectionNames = 1 << 16 // in bytes
	maxPrograms     = 1 << 10
)

// NewELF is like elf.NewFile, but for files that may come from an attacker. The attacker may even change a file while
// it is read. Package elf reads tables of any size that the file's header states: a sparse file that takes 4 kB on disk
// could have 4 GB of program headers. NewELF returns an error if a table is larger than in any real program.
func NewELF(r io.ReaderAt) (*elf.File, error) {
	head := make([]byte, 64)
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, fmt.Errorf("its ELF header can't be read: %w", err)
	}
	kept := &keptReader{r, []keptPiece{{0, head}}}
	h := parseHeader(head)
	if _, err := kept.table("program headers", h.programs, maxPrograms, h.programSize); err != nil {
		return nil, err
	}
	if h.sections.offset == 0 {
		return elf.NewFile(kept)
	}
	// If a file has more than 65 279 sections, the header has 0 here, and the number is elsewhere.
	if h.sections.count == 0 || h.names >= h.sections.count {
		return nil, fmt.Errorf("its ELF header has %d sections, and at most %d are read", h.sections.count, maxSections)
	}
	headers, err := kept.table("sections", h.sections, maxSections, h.sectionSize)
	if err != nil {
		return nil, err
	}
	if err := h.checkNames(headers); err != nil {
		return nil, err
	}
	return elf.NewFile(kept)
}

// A fileHeader has what an ELF file's header says about its tables (elf(5)).
type fileHeader struct {
	order              binary.ByteOrder
	wide               bool // true for a 64-bit file
	programs, sections headerTable
	names              int // index of the section that has the names of all sections
	// The sizes, in bytes, of a program header and of a section header. They are different in 32-bit and in 64-bit
	// files.
	programSize, sectionSize int
}

// A headerTable says where a table of headers is in the file.
type headerTable struct {
	offset uint64 // offset of the table in the file; 0 if there is no such table
	each   int    // size of an entry, in bytes
	count  int
}

func parseHeader(head []byte) (h fileHeader) {
	h.order = binary.LittleEndian
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		h.order = binary.BigEndian
	}
	h.wide = elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64
	var sizes []byte
	if h.wide {
		h.programs.offset, h.sections.offset = h.order.Uint64(head[32:]), h.order.Uint64(head[40:])
		h.programSize, h.sectionSize = binary.Size(elf.Prog64{}), binary.Size(elf.Section64{})
		sizes = head[54:]
	} else {
		h.programs.offset, h.sections.offset = uint64(h.order.Uint32(head[28:])), uint64(h.order.Uint32(head[32:]))
		h.programSize, h.sectionSize = binary.Size(elf.Prog32{}), binary.Size(elf.Section32{})
		sizes = head[42:]
	}
	number := func(i int) int { return int(h.order.Uint16(sizes[2*i:])) }
	h.programs.each, h.programs.count = number(0), number(1)
	h.sections.each, h.sections.count, h.names = number(2), number(3), number(4)
	return h
}

// checkNames returns an error if the section with the names of all sections is too large or compressed. headers is the
// table of section headers.
func (h *fileHeader) checkNames(headers []byte) error {
	names := headers[h.names*h.sectionSize:]
	flags, size := uint64(h.order.Uint32(names[8:])), uint64(h.order.Uint32(names[20:]))
	if h.wide {
		flags, size = h.order.Uint64(names[8:]), h.order.Uint64(names[32:])
	}
	if size > maxSectionNames || elf.SectionFlag(flags)&elf.SHF_COMPRESSED != 0 {
		return fmt.Errorf("the names of its sections have %d bytes, and at most %d are read", size, maxSectionNames)
	}
	return nil
}

// A keptReader is an io.ReaderAt for a file that may change while it is read. Once a piece of the file was checked, the
// keptReader keeps it in memory, and every later ReadAt returns the checked bytes.
type keptReader struct {
	file   io.ReaderAt
	pieces []keptPiece
}

type keptPiece struct {
	at   int64
	data []byte
}

// table reads a table of headers, and keeps it in memory. It returns an error if the table has too many entries, or if
// the entries do not have the right size.
func (k *keptReader) table(what string, t headerTable, limit, size int) ([]byte, error) {
	switch {
	case t.count == 0:
		return nil, nil
	case t.count > limit || t.offset > 1<<62:
		return nil, fmt.Errorf("its ELF header has %d %s, and at most %d are read", t.count, what, limit)
	case t.each != size:
		return nil, fmt.Errorf("its ELF header has %s with an impossible size: %d bytes", what, t.each)
	}
	data := make([]byte, t.count*size)
	if n, err := k.ReadAt(data, int64(t.offset)); n < len(data) {
		return nil, fmt.Errorf("its %s can't be read: %w", what, err)
	}
	k.pieces = append(k.pieces, keptPiece{int64(t.offset), data})
	return data, nil
}

func (k *keptReader) ReadAt(p []byte, at int64) (n int, err error) {
	n, err = k.file.ReadAt(p, at)
	for _, piece := range k.pieces {
		lo, hi := max(at, piece.at), min(at+int64(n), piece.at+int64(len(piece.data)))
		if lo < hi {
			copy(p[lo-at:hi-at], piece.data[lo-piece.at:])
		}
	}
	return n, err
}
