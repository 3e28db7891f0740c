package native

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
)

// An image is what is known of one ELF file. Its addresses are the file's own.
type image struct {
	segments []segment // executable ones first
	pieces   []piece   // sorted, without overlaps
	plt      []span    // the stubs of imported functions

	// complete: there was more than the dynamic symbols, so that what has no
	// name is no function. An image that could not be read is complete, too:
	// nobody else can have read it.
	complete bool
	dynamic  []string // the names of all dynamic symbols, unless complete
	exported *claims  // of dynamic, made when first asked for
}

// A segment is a part of a file that is loaded.
type segment struct {
	offset, size uint64 // in the file
	addr         uint64
}

// An object is an open ELF file.
type object struct {
	*elf.File
	size int64 // of the file, in bytes
}

// nameless stands for a file whose functions could not be read.
func nameless() *image {
	return &image{segments: []segment{{size: ^uint64(0)}}, complete: true}
}

// newObject reads the headers of an ELF file of the given size in bytes.
func newObject(r io.ReaderAt, size int64) (object, error) {
	f, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if err != nil {
		return object{}, err
	}
	return object{f, size}, nil
}

// openFile opens a regular file, and does not wait for anything.
func openFile(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// newImage reads the functions of an ELF file. more finds those that its own
// symbol table lacks; nil: there are no others. It is not called when the file
// has such a table.
func newImage(o object, more func() []symbol) (*image, error) {
	img := &image{segments: loadSegments(o.File)}
	for _, s := range o.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && (s.Name == ".plt" || strings.HasPrefix(s.Name, ".plt.") || s.Name == ".iplt") {
			img.plt = append(img.plt, span{lo: s.Addr, hi: s.Addr + s.Size})
		}
	}
	dynamic, err := readSymbols(o.File, o.size, elf.SHT_DYNSYM)
	if err != nil {
		return nil, err
	}
	static, err := readSymbols(o.File, o.size, elf.SHT_SYMTAB)
	if err != nil {
		return nil, err
	}
	functions := static.functions
	if len(functions) == 0 && more != nil {
		functions = more()
	}
	img.complete = len(functions) > 0
	for _, fn := range dynamic.functions {
		// Where a function without a size ends is known only from all the others.
		if img.complete || !fn.unsized {
			functions = append(functions, fn)
		}
	}
	if !img.complete {
		img.dynamic = dynamic.names
	}
	img.pieces = arrange(functions)
	return img, nil
}

// readImage reads an image out of memory.
func readImage(data []byte) (*image, error) {
	o, err := newObject(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return newImage(o, nil)
}

// loadSegments returns the exact segments, those to execute first, and then
// the same with the pages around them.
func loadSegments(f *elf.File) []segment {
	const page = 1 << 16 // the largest that Linux uses
	var exact, loose []segment
	for _, executable := range []bool{true, false} {
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD || p.Filesz == 0 || (p.Flags&elf.PF_X != 0) != executable {
				continue
			}
			exact = append(exact, segment{offset: p.Off, size: p.Filesz, addr: p.Vaddr})
			before := min(p.Off%page, p.Vaddr)
			size := p.Filesz + before
			loose = append(loose, segment{p.Off - before, size + -size%page, p.Vaddr - before})
		}
	}
	return append(exact, loose...)
}

// addr gives the address of a byte of the file.
func (img *image) addr(offset uint64) (uint64, bool) {
	for i := range img.segments {
		if s := &img.segments[i]; offset-s.offset < s.size && offset >= s.offset {
			return s.addr + (offset - s.offset), true
		}
	}
	return 0, false
}

// find gives the place of an address: slot 2i+1 is the i-th piece, slot 2i the
// gap before it. Together the slots have all addresses.
func (img *image) find(addr uint64) (slot int, lo, hi uint64) {
	i, in := slices.BinarySearchFunc(img.pieces, addr, func(p piece, addr uint64) int {
		switch {
		case p.hi <= addr:
			return -1
		case p.lo > addr:
			return 1
		}
		return 0
	})
	if in {
		return 2*i + 1, img.pieces[i].lo, img.pieces[i].hi
	}
	hi = ^uint64(0)
	if i > 0 {
		lo = img.pieces[i-1].hi
	}
	if i < len(img.pieces) {
		hi = img.pieces[i].lo
	}
	return 2 * i, lo, hi
}

// name is that of a slot, "" for a gap.
func (img *image) name(slot int) string {
	if slot%2 == 0 {
		return ""
	}
	p := &img.pieces[slot/2]
	if !p.demangled {
		p.name, p.demangled = Demangle(unversioned(p.name)), true
	}
	return p.name
}

// believes tells whether a sampler's name for an address without a function is
// to be taken.
func (img *image) believes(claim string, addr uint64) bool {
	if isPLT(claim) {
		return slices.ContainsFunc(img.plt, func(s span) bool { return s.lo <= addr && addr < s.hi })
	}
	if claim == "" || img.complete {
		return false
	}
	if img.exported == nil {
		img.exported, img.dynamic = newClaims(img.dynamic), nil
	}
	return !img.exported.has(claim)
}
