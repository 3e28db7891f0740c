package vmstructs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gasm-profiler/gasm/internal/native"
)

// An image is a loaded ELF library in the memory of a process. Unlike the library's file, the image always exists and
// is always the version that the process runs.
type image struct {
	memory Memory
	bias   uint64 // address in the process minus address in the file
	progs  []elf.ProgHeader
}

// maxImage is the largest distance in bytes from libjvm.so's code down to its ELF header. If the header is farther
// away, findImage does not find it. maxImage is also the largest size of a segment of variables; larger segments are
// left out.
const maxImage = 1 << 26

// findImage finds the ELF image that contains m. It searches downwards from m.Lo, page by page, for an ELF header.
func findImage(memory Memory, m native.Mapping) (*image, error) {
	const batch = 1024
	var heads [batch][64]byte
	for first := m.Lo &^ (pageSize - 1); first > 0 && m.Lo-first < maxImage; {
		pieces := make([]Piece, 0, batch)
		for i := 0; i < batch && first > 0; i++ {
			pieces = append(pieces, Piece{first, heads[i][:]})
			first -= pageSize
		}
		read, err := memory.GatherSome(pieces)
		if err != nil {
			return nil, err
		}
		for i, p := range pieces {
			if read[i] && bytes.HasPrefix(p.Buf, []byte(elf.ELFMAG+"\x02\x01")) {
				if img, err := newImage(memory, p.Addr, p.Buf, m); err == nil {
					return img, nil
				}
			}
		}
	}
	return nil, errors.New("no library of 64 bits is in memory where its code is mapped")
}

// newImage reads the program headers of the library at an address. It returns an error unless m is a mapping of this
// library.
func newImage(memory Memory, at uint64, head []byte, m native.Mapping) (*image, error) {
	const size = 56 // of an Elf64_Phdr
	count := uint64(binary.LittleEndian.Uint16(head[56:]))
	data, err := memory.Read(nil, at+binary.LittleEndian.Uint64(head[32:]), size*count)
	if err != nil {
		return nil, err
	}
	img := &image{memory: memory}
	for ; len(data) >= size; data = data[size:] {
		number := func(offset int) uint64 { return binary.LittleEndian.Uint64(data[offset:]) }
		img.progs = append(img.progs, elf.ProgHeader{Type: elf.ProgType(binary.LittleEndian.Uint32(data)),
			Flags: elf.ProgFlag(binary.LittleEndian.Uint32(data[4:])),
			Off:   number(8), Vaddr: number(16), Filesz: number(32), Memsz: number(40)})
	}
	for _, p := range img.progs {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			img.bias = at - p.Vaddr
		}
	}
	bias, err := loadBias(img.progs, m)
	if err != nil || bias != img.bias {
		return nil, errors.New("another library is at this address")
	}
	return img, nil
}

// loadBias returns the difference between an address in the process and the address in the library's file. m is a
// mapping of the library's code.
func loadBias(progs []elf.ProgHeader, m native.Mapping) (uint64, error) {
	for _, p := range progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off <= m.FileOffset+m.Hi-m.Lo &&
			m.FileOffset < p.Off+p.Filesz {
			return m.Lo - m.FileOffset - (p.Vaddr - p.Off), nil
		}
	}
	return 0, fmt.Errorf(
		"the segments of %s are not those that are mapped: it was replaced after the JVM had loaded it; start the JVM again",
		m.Path)
}

// variables returns the address ranges of the library's writable segments, which hold its variables
// (.data and .bss).
func (img *image) variables() (ranges [][2]uint64) {
	for _, p := range img.progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && p.Memsz <= maxImage {
			ranges = append(ranges, [2]uint64{p.Vaddr + img.bias, p.Vaddr + img.bias + p.Memsz})
		}
	}
	return ranges
}

// maxExported limits the number of exported symbols. libjvm.so has about 1000.
const maxExported = 1 << 20

// exported returns the addresses of the symbols that the library exports, by name.
func (img *image) exported() (map[string]uint64, error) {
	d, err := img.dynamic()
	if err != nil {
		return nil, err
	}
	count, err := img.symbolCount(d)
	if err != nil {
		return nil, fmt.Errorf("its table of symbols: %w", err)
	}
	data, err := img.memory.Read(nil, d[elf.DT_SYMTAB], elf.Sym64Size*count)
	if err != nil {
		return nil, fmt.Errorf("its table of symbols: %w", err)
	}
	names, err := img.memory.Read(nil, d[elf.DT_STRTAB], d[elf.DT_STRSZ])
	if err != nil {
		return nil, fmt.Errorf("the names of its symbols: %w", err)
	}
	symbols := make(map[string]uint64, count)
	for ; len(data) >= elf.Sym64Size; data = data[elf.Sym64Size:] {
		at := uint64(binary.LittleEndian.Uint32(data))
		if at >= uint64(len(names)) || binary.LittleEndian.Uint16(data[6:]) == uint16(elf.SHN_UNDEF) {
			continue
		}
		if name, _, ok := bytes.Cut(names[at:min(at+maxText, uint64(len(names)))], []byte{0}); ok {
			symbols[string(name)] = binary.LittleEndian.Uint64(data[8:]) + img.bias
		}
	}
	return symbols, nil
}

// dynamic reads the library's dynamic section. The addresses in it are those of the file, but the dynamic linker may
// have replaced them with addresses in the process. In both cases, the function returns addresses in the process.
func (img *image) dynamic() (map[elf.DynTag]uint64, error) {
	for _, p := range img.progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		data, err := img.memory.Read(nil, p.Vaddr+img.bias, min(p.Memsz, 1<<14))
		if err != nil {
			return nil, err
		}
		found := map[elf.DynTag]uint64{}
		for ; len(data) >= 16; data = data[16:] {
			tag, value := elf.DynTag(binary.LittleEndian.Uint64(data)), binary.LittleEndian.Uint64(data[8:])
			if tag == elf.DT_NULL {
				break
			}
			switch tag {
			case elf.DT_SYMTAB, elf.DT_STRTAB, elf.DT_HASH, elf.DT_GNU_HASH:
				if value < img.bias {
					value += img.bias
				}
			}
			found[tag] = value
		}
		return found, nil
	}
	return nil, errors.New("it has no dynamic section")
}

// symbolCount returns the number of symbols in the library's dynamic symbol table. The dynamic section does not
// contain this number, so it is derived from the library's hash table of symbols.
func (img *image) symbolCount(d map[elf.DynTag]uint64) (uint64, error) {
	count := uint64(0)
	if at, ok := d[elf.DT_HASH]; ok {
		n, err := img.memory.Uint32(at + 4)
		if err != nil {
			return 0, err
		}
		count = uint64(n)
	} else {
		var err error
		if count, err = img.gnuHashCount(d[elf.DT_GNU_HASH]); err != nil {
			return 0, err
		}
	}
	if count > maxExported {
		return 0, fmt.Errorf("there can't be %d", count)
	}
	return count, nil
}

// gnuHashCount returns the number of symbols of a DT_GNU_HASH table. The table has four numbers, a Bloom filter, the
// index of the first symbol of each bucket, and then a hash for each symbol, beginning with the first symbol that is
// in the table. The lowest bit of a hash is set for the last symbol of a bucket.
func (img *image) gnuHashCount(at uint64) (uint64, error) {
	var head [16]byte
	if _, err := img.memory.Read(head[:], at, 16); err != nil {
		return 0, err
	}
	buckets, first, bloom := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:]),
		binary.LittleEndian.Uint32(head[8:])
	if buckets > maxExported || bloom > maxExported {
		return 0, fmt.Errorf("there can't be %d buckets", buckets)
	}
	bucketsAt := at + 16 + 8*uint64(bloom)
	data, err := img.memory.Read(nil, bucketsAt, 4*uint64(buckets))
	if err != nil {
		return 0, err
	}
	last := uint32(0)
	for ; len(data) >= 4; data = data[4:] {
		last = max(last, binary.LittleEndian.Uint32(data))
	}
	if last < first {
		return uint64(first), nil
	}
	for ; last < maxExported; last++ {
		hash, err := img.memory.Uint32(bucketsAt + 4*uint64(buckets) + 4*uint64(last-first))
		if err != nil {
			return 0, err
		}
		if hash&1 != 0 {
			break
		}
	}
	return uint64(last) + 1, nil
}
