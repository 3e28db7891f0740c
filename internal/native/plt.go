package native

import (
	"debug/elf"
	"encoding/binary"
	"strings"
)

// longestPLT limits the size of each section that is read for stubs, in bytes. libjvm.so has 1000 stubs of 16 bytes.
const longestPLT = 4 << 20

// stubs returns the names of the stubs through which the file calls functions of other files, by address: "memcpy@plt".
// It supports only x86-64, where a stub jumps to an address that it loads from a slot; the name is in the slot's
// relocation. It returns nil for other processors, and leaves out stubs in sections that can't be read.
func (o object) stubs() map[uint64]string {
	if o.Machine != elf.EM_X86_64 {
		return nil
	}
	slots := o.importSlots()
	if len(slots) == 0 {
		return nil
	}
	stubs := map[uint64]string{}
	for _, s := range o.Sections {
		if !isPLTSection(s) {
			continue
		}
		code, err := o.data(s, longestPLT)
		if err != nil {
			continue
		}
		stubsIn(code, s.Addr, slots, stubs)
		o.load.give(int64(len(code)))
	}
	return stubs
}

// isPLTSection reports whether a section has stubs of imported functions.
func isPLTSection(s *elf.Section) bool {
	return s.Flags&elf.SHF_EXECINSTR != 0 && (s.Name == ".plt" || strings.HasPrefix(s.Name, ".plt.") || s.Name == ".iplt")
}

// stubsIn adds the stubs in the code of a section at addr. A stub begins at a multiple of eight bytes, and may begin
// with endbr64 and with the prefix bnd:
//
//	f3 0f 1e fa  f2 ff 25 75 2f 00 00    endbr64; bnd jmp *0x2f75(%rip)
func stubsIn(code []byte, addr uint64, slots, stubs map[uint64]string) {
	const size, endbr, jump = 8, "\xf3\x0f\x1e\xfa", "\xff\x25"
	for at := 0; at+size <= len(code); at += size {
		end := at
		if strings.HasPrefix(string(code[end:at+size]), endbr) {
			end += len(endbr)
		}
		if code[end] == 0xf2 {
			end++
		}
		if end+6 > len(code) || string(code[end:end+2]) != jump {
			continue
		}
		end += 6
		slot := addr + uint64(end) + uint64(int64(int32(binary.LittleEndian.Uint32(code[end-4:]))))
		if name := slots[slot]; name != "" {
			stubs[addr+uint64(at)] = name + "@plt"
		}
	}
}

// importSlots returns the names of imported functions, by the addresses of the slots into which the loader writes the
// addresses of the functions.
func (o object) importSlots() map[uint64]string {
	const entry = 24 // the size of an elf.Rela64
	dynamic := o.SectionByType(elf.SHT_DYNSYM)
	if dynamic == nil || int64(dynamic.Link) >= int64(len(o.Sections)) || o.Class != elf.ELFCLASS64 {
		return nil
	}
	symbols, err := o.data(dynamic, longestTable)
	if err != nil {
		return nil
	}
	defer o.load.give(int64(len(symbols)))
	text, err := o.data(o.Sections[dynamic.Link], longestNames)
	if err != nil {
		return nil
	}
	defer o.load.give(int64(len(text)))
	slots := map[uint64]string{}
	for _, s := range o.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		data, err := o.data(s, longestPLT)
		if err != nil {
			continue
		}
		for ; len(data) >= entry; data = data[entry:] {
			info := o.ByteOrder.Uint64(data[8:])
			kind, index := elf.R_X86_64(info&0xffffffff), info>>32*elf.Sym64Size
			if kind != elf.R_X86_64_JMP_SLOT && kind != elf.R_X86_64_GLOB_DAT || index+elf.Sym64Size > uint64(len(symbols)) {
				continue
			}
			if at := parseSymbol(o.File, symbols[index:]).Name; uint64(at) < uint64(len(text)) {
				if name := string(names{text}.at(nameAt{offset: at})); name != "" {
					slots[o.ByteOrder.Uint64(data)] = Demangle(unversioned(name))
				}
			}
		}
		o.load.give(int64(s.FileSize))
	}
	return slots
}
