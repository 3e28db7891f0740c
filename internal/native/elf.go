package native

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

// Upper bounds for the number of sections of an ELF file, and for the size of the table of their names in bytes; more
// is an error. libjvm.so has about 40 sections and 400 bytes of names. Package elf makes a string of each name, so
// together the two limit its memory to 64 MB.
const (
	maxSections     = 1 << 10
	maxSectionNames = 1 << 16
)

// NewELF is elf.NewFile for a file that anybody may have written, and that may change while it is read. Package elf
// reads tables of any size that the file's header states. NewELF returns an error if they are larger than those of any
// program.
func NewELF(r io.ReaderAt) (*elf.File, error) {
	head := make([]byte, 64)
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, fmt.Errorf("its ELF header can't be read: %w", err)
	}
	t := sectionTable{order: binary.LittleEndian, wide: elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64}
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		t.order = binary.BigEndian
	}
	t.readHeader(head)
	if t.offset == 0 {
		return elf.NewFile(&keptReader{r, []keptPiece{{0, head}}})
	}
	// A file with more than 65 279 sections has 0 here, and their number elsewhere.
	if t.sections == 0 || t.sections > maxSections || t.names >= t.sections || t.offset > 1<<62 {
		return nil, fmt.Errorf("its ELF header has %d sections, and at most %d are read", t.sections, maxSections)
	}
	headers := make([]byte, t.sections*t.each)
	if n, err := r.ReadAt(headers, int64(t.offset)); n < len(headers) {
		return nil, fmt.Errorf("the headers of its sections can't be read: %w", err)
	}
	if err := t.checkNames(headers); err != nil {
		return nil, err
	}
	return elf.NewFile(&keptReader{r, []keptPiece{{0, head}, {int64(t.offset), headers}}})
}

// A sectionTable says where the headers of a file's sections are (elf(5)).
type sectionTable struct {
	order    binary.ByteOrder
	wide     bool   // the file is a 64-bit one
	offset   uint64 // 0 if there are none
	each     int    // size of a header in bytes
	sections int
	names    int // index of the section with the names of all sections
}

func (t *sectionTable) readHeader(head []byte) {
	sizes := head[46:]
	t.offset = uint64(t.order.Uint32(head[32:]))
	if t.wide {
		sizes = head[58:]
		t.offset = t.order.Uint64(head[40:])
	}
	t.each = int(t.order.Uint16(sizes))
	t.sections = int(t.order.Uint16(sizes[2:]))
	t.names = int(t.order.Uint16(sizes[4:]))
}

// checkNames checks the section with the names.
func (t *sectionTable) checkNames(headers []byte) error {
	h := headers[t.names*t.each:]
	var flags, size uint64
	switch {
	case t.wide && t.each >= binary.Size(elf.Section64{}):
		flags, size = t.order.Uint64(h[8:]), t.order.Uint64(h[32:])
	case !t.wide && t.each >= binary.Size(elf.Section32{}):
		flags, size = uint64(t.order.Uint32(h[8:])), uint64(t.order.Uint32(h[20:]))
	default:
		return fmt.Errorf("the headers of its sections have an impossible size: %d bytes", t.each)
	}
	if size > maxSectionNames || elf.SectionFlag(flags)&elf.SHF_COMPRESSED != 0 {
		return fmt.Errorf("the names of its sections have %d bytes, and at most %d are read", size, maxSectionNames)
	}
	return nil
}

// A keptReader reads a file, some pieces of which it returns as they were when they were checked.
type keptReader struct {
	file   io.ReaderAt
	pieces []keptPiece
}

type keptPiece struct {
	at   int64
	data []byte
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
