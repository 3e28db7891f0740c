package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// soname is the object's name for the dynamic linker (DT_SONAME). It is part of dynamicStrings.
const soname = "libjava-probes.so"

// image returns the part of an object that the JVM maps. Its ELF header does not refer to any sections yet.
func image(m *Machine) []byte {
	b := make(buffer, dataOffset+dataEnd-dataAt)
	b.put(0, header(m, 0, 0))
	b.put(headersAt, []elf.Prog64{
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: codeEnd, Memsz: codeEnd,
			Align: 0x10000},
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: dataOffset, Vaddr: dataAt, Paddr: dataAt,
			Filesz: dataEnd - dataAt, Memsz: dataEnd - dataAt, Align: 0x10000},
		{Type: uint32(elf.PT_DYNAMIC), Flags: uint32(elf.PF_R | elf.PF_W), Off: dataOffset, Vaddr: dynamicAt,
			Paddr: dynamicAt, Filesz: dynamicSize, Memsz: dynamicSize, Align: 8},
		// Without this header the JVM would make its stacks executable, and print a warning.
		{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W), Align: 16},
	})
	b.put(hashAt, []uint32{1, 2, 1, 0, 0}) // one bucket, which has symbol 1
	b.put(symbolsAt, []elf.Sym64{{}, {Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: textSection,
		Value: codeAt, Size: semaphoresEntry}})
	b.put(stringsAt, []byte(dynamicStrings))
	b.put(codeAt, m.code)
	for i := range Sites {
		b.put(uint64(sitesAt+i*siteSize), m.site)
	}
	b.put(dataOffset, dynamic())
	b.putTexts(m)
	return b
}

const dynamicStrings = "\x00JNI_OnLoad\x00" + soname + "\x00"

// header returns the file's header. sectionsAt is the offset of the section headers in the file, and sections is their
// number.
func header(m *Machine, sectionsAt uint64, sections int) elf.Header64 {
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(m.machine), Version: 1, Phoff: headersAt,
		Shoff: sectionsAt, Ehsize: 64, Phentsize: 56, Phnum: 4, Shentsize: 64, Shnum: uint16(sections)}
	if sections > 0 {
		h.Shstrndx = uint16(sections - 1)
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64),
		byte(elf.ELFDATA2LSB), 1
	return h
}

const dynamicSize = 10 * 16

// dynamic returns the dynamic section. It tells the dynamic linker where to find the hash table, strings, symbols and
// relocations.
func dynamic() []elf.Dyn64 {
	return []elf.Dyn64{
		{Tag: int64(elf.DT_SONAME), Val: uint64(len("\x00JNI_OnLoad\x00"))},
		{Tag: int64(elf.DT_HASH), Val: hashAt},
		{Tag: int64(elf.DT_STRTAB), Val: stringsAt}, {Tag: int64(elf.DT_STRSZ), Val: uint64(len(dynamicStrings))},
		{Tag: int64(elf.DT_SYMTAB), Val: symbolsAt}, {Tag: int64(elf.DT_SYMENT), Val: 24},
		{Tag: int64(elf.DT_RELA), Val: relocsAt}, {Tag: int64(elf.DT_RELASZ), Val: 6 * 24},
		{Tag: int64(elf.DT_RELAENT), Val: 24},
		{Tag: int64(elf.DT_NULL)},
	}
}

// putTexts writes the strings that are passed to JNI, the table of native methods, and a relocation for each address in
// that table.
func (b buffer) putTexts(m *Machine) {
	at := uint64(textsAt)
	text := func(s string) (address uint64) {
		b.put(at, []byte(s+"\x00"))
		address = at
		at += uint64(len(s)) + 1
		return address
	}
	text(SitesClass) // comes first, so it is at textsAt, where the machine code expects it
	table := []uint64{
		text("semaphores"), text(semaphoresSignature), codeAt + semaphoresEntry,
		text("fire"), text(fireSignature), codeAt + fireEntry,
	}
	for i, address := range table {
		place := uint64(methodsAt + 8*i)
		b.put(relocsAt+uint64(24*i), elf.Rela64{Off: place, Info: m.relative, Addend: int64(address)})
		b.put(place-dataAt+dataOffset, address)
	}
}

// A buffer is the content of a file that is being made.
type buffer []byte

// put writes a value of fixed size at an offset.
func (b buffer) put(at uint64, value any) {
	copy(b[at:], encoded(value))
}

// encoded returns the bytes of a value of fixed size.
func encoded(value any) []byte {
	var w bytes.Buffer
	if err := binary.Write(&w, binary.LittleEndian, value); err != nil {
		panic(err) // the value has no fixed size
	}
	return w.Bytes()
}
