package native

import (
	"debug/elf"
	"errors"
	"io"
	"slices"
)

// The type functions has the functions of an ELF file. The addresses are those in the file itself, and not those at
// which the file was loaded. It does not change once it was made, so Resolvers share it; see share.go.
type functions struct {
	segments Segments    // executable ones first
	pieces   []piece     // sorted, without overlaps
	texts    names       // the names of the pieces
	plt      []span      // the stubs of imported functions
	version  fileVersion // the file's version; the zero value for the vDSO, and if the file could not be read

	// complete is true if all functions are known and not just the dynamic symbols. Then an address that no piece
	// covers is not in a function. It is also true if the file could not be read. In that case, the sampler could not
	// read the file either, so the names that it claims are worthless.
	complete bool
	dynamic  []nameAt  // all dynamic symbols; empty if complete
	notes    []string  // what is to be said about the file's debug information
	account  *account  // of the memory that the functions take
	key      sharedKey // the zero value if they are not shared
}

// An image is what one Resolver knows of an ELF file.
type image struct {
	*functions
	named    map[int]string // names that Resolver.name has returned, by slot
	exported *claims        // the names of the dynamic symbols; nil until the first claim is checked

	parameters bool     // true if names of C++ functions have parameters
	account    *account // of the memory that the image takes besides its functions
}

func newImageOf(f *functions) *image { return &image{functions: f, named: map[int]string{}} }

// A segment is a loaded part of a file.
type segment struct {
	offset, size uint64 // in the file
	addr         uint64
}

// memory returns the memory that the functions take, in bytes. The demangled names are not included, because they are
// added later.
func (f *functions) memory() int {
	const piece, at = 24, 8 // the sizes of these types
	n := piece*cap(f.pieces) + at*cap(f.dynamic)
	for _, text := range f.texts {
		n += cap(text)
	}
	return n
}

// An object is an open ELF file.
type object struct {
	*elf.File
	size int64    // in bytes
	load *reading // the reading of this file; a debug file shares the reading of the file that it belongs to
}

// nameless returns the image of a file whose functions could not be read.
func nameless() *image {
	return newImageOf(&functions{segments: Segments{{size: ^uint64(0)}}, complete: true})
}

// newObject reads the headers of an ELF file of the given size in bytes.
func newObject(l *reading, r io.ReaderAt, size int64) (object, error) {
	f, err := NewELF(io.NewSectionReader(limitedFile{l, r}, 0, size))
	if err != nil {
		return object{}, err
	}
	return object{f, size, l}, nil
}

// ErrReplaced means that a path leads to a different file than the one that was mapped.
var ErrReplaced = errors.New("another file is at this path now")

// newImage reads the functions of an ELF file. If the file has no functions in .symtab, newImage calls more(), which
// looks for functions elsewhere. The parameter more may be nil.
func newImage(o object, more func() symbolTable) (*image, error) {
	img := newImageOf(&functions{segments: LoadSegments(o.File)})
	for _, s := range o.Sections {
		if isPLTSection(s) {
			img.plt = append(img.plt, span{lo: s.Addr, hi: s.Addr + s.Size})
		}
	}
	dynamic, err := o.symbols(elf.SHT_DYNSYM)
	if err != nil {
		return nil, err
	}
	static, err := o.symbols(elf.SHT_SYMTAB)
	if err != nil {
		return nil, err
	}
	if len(static.functions) == 0 && more != nil {
		static = more()
	}
	all := static.functions
	img.complete = len(all) > 0
	img.texts = names{static.text, dynamic.text}
	const ofDynamic = 1 // index in texts
	for _, fn := range dynamic.functions {
		// A function without a size ends where the next one starts. So its end is only known if all functions are
		// known.
		if img.complete || !fn.unsized {
			fn.name.table = ofDynamic
			all = append(all, fn)
		}
	}
	if !img.complete {
		for _, at := range dynamic.defined {
			at.table = ofDynamic
			img.dynamic = append(img.dynamic, at)
		}
	}
	img.pieces = arrange(all, img.texts)
	return img, nil
}

// Segments are the parts of a file that are loaded into memory.
type Segments []segment

// LoadSegments returns the loaded segments of a file. The kernel maps whole pages, so an address may also be in the
// rest of a segment's first or last page. Therefore the result has each segment twice: first come all segments exactly
// as in the file, and then all segments extended to whole pages. In both parts, executable segments come first.
func LoadSegments(f *elf.File) Segments {
	const page = 1 << 16 // the largest page size on Linux
	var exact, wholePages []segment
	for _, executable := range []bool{true, false} {
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD || p.Filesz == 0 || (p.Flags&elf.PF_X != 0) != executable {
				continue
			}
			exact = append(exact, segment{offset: p.Off, size: p.Filesz, addr: p.Vaddr})
			before := min(p.Off%page, p.Vaddr)
			size := p.Filesz + before
			wholePages = append(wholePages, segment{p.Off - before, size + -size%page, p.Vaddr - before})
		}
	}
	return append(exact, wholePages...)
}

// Address converts an offset in the file to an address. It returns false if no segment contains the offset.
func (all Segments) Address(offset uint64) (uint64, bool) {
	for i := range all {
		if s := &all[i]; offset-s.offset < s.size && offset >= s.offset {
			return s.addr + (offset - s.offset), true
		}
	}
	return 0, false
}

// find returns the slot of an address, and the slot's range. A slot is a piece or a gap: slot 2i+1 is the i-th piece,
// and slot 2i is the gap before it. Each address is in exactly one slot.
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

// name returns the demangled name of a slot's function. It returns "" for a gap.
func (img *image) name(slot int) string {
	if slot%2 == 0 {
		return ""
	}
	name := unversioned(string(img.texts.at(img.pieces[slot/2].name)))
	if img.parameters {
		return demangled(name)
	}
	return Demangle(name)
}

// believes reports whether a claim is believed. A claim is the name that a sampler has for an address; no function in
// img covers that address. The package comment has the rules.
func (img *image) believes(claim string, addr uint64) bool {
	if isPLT(claim) {
		return slices.ContainsFunc(img.plt, func(s span) bool { return s.lo <= addr && addr < s.hi })
	}
	if claim == "" || img.complete {
		return false
	}
	if img.exported == nil {
		symbols := make([]string, len(img.dynamic))
		for i, at := range img.dynamic {
			symbols[i] = string(img.texts.at(at))
		}
		img.exported = newClaims(symbols)
	}
	return !img.exported.has(claim)
}
