package sdt

import (
	"bytes"
	"crypto/sha1"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// A Probe describes a site for tracers: its name, its method and its arguments.
type Probe struct {
	Site   int     // number of the site, from 0 to Sites-1
	Name   string  // "Svc.tiny__entry"
	Symbol string  // the method written as a function: "org.acme.Svc.tiny(int,String)"
	Values []Value // the arguments, at most MaxValues
}

// A Value is the type of an argument.
type Value int

// The types of arguments. Number is a signed number, and Text is the address of a zero-terminated string.
const (
	Number Value = iota
	Text
)

// textSection is the index of .text among the sections.
const textSection = 5

// sections returns the part of an object that tracers read: the sections that no process maps, followed by the headers
// of all sections. The caller writes this part to the file at the offset place. headersAt is the offset of the section
// headers in the file, and count is their number. The build id is a hash of the notes and the symbols' names, so it
// changes with the list of probes.
func sections(m *Machine, place uint64, probes []Probe) (data []byte, headersAt uint64, count int, err error) {
	s := sectionWriter{place: place}
	read, mapped := uint64(elf.SHF_ALLOC), uint64(elf.SHF_ALLOC|elf.SHF_WRITE)
	s.headers = []elf.Section64{{},
		{Name: s.name(".hash"), Type: uint32(elf.SHT_HASH), Flags: read, Addr: hashAt, Off: hashAt, Size: 20, Link: 2,
			Addralign: 8, Entsize: 4},
		{Name: s.name(".dynsym"), Type: uint32(elf.SHT_DYNSYM), Flags: read, Addr: symbolsAt, Off: symbolsAt, Size: 48,
			Link: 3, Info: 1, Addralign: 8, Entsize: 24},
		{Name: s.name(".dynstr"), Type: uint32(elf.SHT_STRTAB), Flags: read, Addr: stringsAt, Off: stringsAt,
			Size: uint64(len(dynamicStrings)), Addralign: 1},
		{Name: s.name(".rela.dyn"), Type: uint32(elf.SHT_RELA), Flags: read, Addr: relocsAt, Off: relocsAt,
			Size: 6 * 24, Link: 2, Addralign: 8, Entsize: 24},
		{Name: s.name(".text"), Type: uint32(elf.SHT_PROGBITS), Flags: read | uint64(elf.SHF_EXECINSTR), Addr: codeAt,
			Off: codeAt, Size: codeEnd - codeAt, Addralign: 16},
		{Name: s.name(".stapsdt.base"), Type: uint32(elf.SHT_PROGBITS), Flags: read, Addr: baseAt, Off: baseAt, Size: 1,
			Addralign: 1},
		{Name: s.name(".dynamic"), Type: uint32(elf.SHT_DYNAMIC), Flags: mapped, Addr: dynamicAt, Off: dataOffset,
			Size: dynamicSize, Link: 3, Addralign: 8, Entsize: 16},
		{Name: s.name(".probes"), Type: uint32(elf.SHT_PROGBITS), Flags: mapped, Addr: semaphores,
			Off: semaphores - dataAt + dataOffset, Size: dataEnd - semaphores, Addralign: 4},
	}
	notes, err := allNotes(m, probes)
	if err != nil {
		return nil, 0, 0, err
	}
	symbols, texts := symbolTable(probes)
	id := sha1.Sum(append(notes, texts...)) // perf identifies the file by this hash
	s.add(".note.stapsdt", elf.SHT_NOTE, notes, elf.Section64{Addralign: 4})
	s.add(".note.gnu.build-id", elf.SHT_NOTE, note("GNU\x00", 4, 3, id[:]), elf.Section64{Addralign: 4})
	s.add(".symtab", elf.SHT_SYMTAB, symbols, elf.Section64{Link: uint32(len(s.headers) + 1), Info: 1, Addralign: 8,
		Entsize: 24})
	s.add(".strtab", elf.SHT_STRTAB, texts, elf.Section64{Addralign: 1})
	name := s.name(".shstrtab")
	s.names.WriteByte(0)
	s.addNamed(name, elf.SHT_STRTAB, s.names.Bytes(), elf.Section64{Addralign: 1})
	s.align(8)
	headersAt = place + uint64(s.data.Len())
	s.data.Write(encoded(s.headers))
	return s.data.Bytes(), headersAt, len(s.headers), nil
}

// A sectionWriter collects sections and their headers.
type sectionWriter struct {
	place   uint64 // offset in the file at which data will be written
	data    bytes.Buffer
	headers []elf.Section64
	names   bytes.Buffer // names of the sections, each after a zero byte
}

func (s *sectionWriter) name(name string) uint32 {
	s.names.WriteByte(0)
	at := uint32(s.names.Len())
	s.names.WriteString(name)
	return at
}

func (s *sectionWriter) align(to uint64) {
	for uint64(s.data.Len())%to != 0 {
		s.data.WriteByte(0)
	}
}

func (s *sectionWriter) add(name string, kind elf.SectionType, data []byte, h elf.Section64) {
	s.addNamed(s.name(name), kind, data, h)
}

func (s *sectionWriter) addNamed(name uint32, kind elf.SectionType, data []byte, h elf.Section64) {
	s.align(h.Addralign)
	h.Name, h.Type, h.Off, h.Size = name, uint32(kind), s.place+uint64(s.data.Len()), uint64(len(data))
	s.headers = append(s.headers, h)
	s.data.Write(data)
}

// The owner of each note is "stapsdt", and the note's header states the length of that name. The correct length is 8,
// which includes the zero byte at the end. If the header states 7, perf and bpftrace skip the note, but DTrace reads
// it.
const dtraceOwner, owner = 7, 8

// allNotes returns two notes for each probe: one that only DTrace reads, with a full stop in the name, and one for all
// tracers. The first note is hidden from perf, because perf rejects all notes of an object if one name is not a C
// identifier.
func allNotes(m *Machine, probes []Probe) ([]byte, error) {
	var notes []byte
	for _, p := range probes {
		if p.Site < 0 || p.Site >= Sites || len(p.Values) > MaxValues || len(p.Name) > maxName+len(returnSuffix) ||
			len(p.Symbol) > maxSymbol {
			return nil, fmt.Errorf(
				"%s can't be a probe of a shared object: site %d of %d, %d values, %d bytes of symbol",
				p.Name, p.Site, Sites, len(p.Values), len(p.Symbol))
		}
		place := encoded([]uint64{siteAddress(p.Site), baseAt, semaphores + uint64(p.Site)*semaphoreSize})
		rest := "\x00" + m.arguments(p.Values) + "\x00"
		for _, n := range []struct {
			name  string
			owner uint32
		}{{p.Name, dtraceOwner}, {strings.ReplaceAll(p.Name, ".", "_"), owner}} {
			notes = append(notes, note("stapsdt\x00", n.owner, 3,
				append(slices.Clip(place), "java\x00"+n.name+rest...))...)
		}
	}
	return notes, nil
}

func siteAddress(site int) uint64 { return sitesAt + uint64(site)*siteSize }

// note returns an ELF note. The length of owner must be a multiple of 4 bytes. count is the length of owner that the
// note's header states; for some notes it is wrong on purpose (see dtraceOwner).
func note(owner string, count, kind uint32, description []byte) []byte {
	n := encoded([]uint32{count, uint32(len(description)), kind})
	n = append(append(n, owner...), description...)
	return append(n, make([]byte, -len(n)&3)...)
}

// arguments describes, in the format of notes, in which registers the values are passed. In "-8@%rdi 8@%rsi", -8 means
// a signed number of 8 bytes, and 8 means an unsigned one, here the address of a string.
func (m *Machine) arguments(values []Value) string {
	var text []byte
	for i, v := range values {
		if i > 0 {
			text = append(text, ' ')
		}
		if v == Number {
			text = append(text, '-')
		}
		text = append(text, "8@"+m.registers[i]...)
	}
	return string(text)
}

// symbolTable returns a function symbol for the site of each probe, so that tracers can name the method. texts is the
// string table with the symbols' names.
func symbolTable(probes []Probe) (symbols, texts []byte) {
	table, texts := []elf.Sym64{{}}, []byte{0}
	for _, p := range probes {
		table = append(table, elf.Sym64{Name: uint32(len(texts)), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC),
			Shndx: textSection, Value: siteAddress(p.Site), Size: siteSize})
		texts = append(append(texts, p.Symbol...), 0)
	}
	return encoded(table), texts
}
