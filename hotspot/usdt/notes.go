package usdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/internal/native"
)

// A Probe is one place of a probe in a library. If a probe has several places, there is a Probe for each of them.
type Probe struct {
	Provider, Name string
	Offset         uint64 // offset of the probe's nop in the file
	Args           []Operand
}

// FullName returns the provider's and the probe's name: "hotspot:gc__begin".
func (p *Probe) FullName() string { return p.Provider + ":" + p.Name }

// ErrNone is the error of [Probes] for a library without probes.
var ErrNone = errors.New("this JVM's libjvm.so was built without USDT probes, as Oracle's own are (use OpenJDK's build of a Linux distribution or Temurin's)")

const (
	noteSection = ".note.stapsdt"
	baseSection = ".stapsdt.base"
	noteType    = 3       // NT_STAPSDT
	maxProbes   = 1 << 13 // an upper bound for the number of places; libjvm.so has about 550
	largestNote = 4 << 20 // an upper bound for the size of the section in bytes; in libjvm.so it is about 55 kB
)

// Probes reads the probes of a library, in the order of its notes. The error is [ErrNone] if the
// library has no probes.
func Probes(library io.ReaderAt) ([]Probe, error) {
	f, err := native.NewELF(library)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(noteSection)
	if section == nil {
		return nil, ErrNone
	}
	set, err := operandsOf(f.Machine)
	if err != nil || f.Class != elf.ELFCLASS64 {
		return nil, fmt.Errorf("the probes of a library for %v %v are in a form that gasm does not read", f.Machine, f.Class)
	}
	if section.Size > largestNote {
		return nil, fmt.Errorf("its section %s has %d bytes, which can't be", noteSection, section.Size)
	}
	notes, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("its section %s: %w", noteSection, err)
	}
	moved := uint64(0) // how far prelinking has moved the code since the notes were written
	base := f.Section(baseSection)
	var probes []Probe
	for len(notes) > 0 {
		var desc []byte
		if desc, notes, err = cutNote(f.ByteOrder, notes); err != nil {
			return nil, err
		}
		if desc == nil {
			continue
		}
		location, noted, p, err := readNote(f.ByteOrder, desc, set)
		if err != nil {
			return nil, err
		}
		if base != nil && noted != 0 {
			moved = base.Addr - noted
		}
		offset, ok := fileOffset(f, location+moved)
		// Offset 0 is never code, because the file's header is there. It must not be passed to
		// cilium/ebpf, which takes 0 for an unknown offset and would then read all symbols of the
		// library, however many there are.
		if !ok || offset == 0 {
			return nil, fmt.Errorf("probe %s is at no address of the code", p.FullName())
		}
		p.Offset = offset
		if len(probes) == maxProbes {
			return nil, fmt.Errorf("it has more than %d probes, which can't be", maxProbes)
		}
		probes = append(probes, p)
	}
	if len(probes) == 0 {
		return nil, ErrNone
	}
	return probes, nil
}

// cutNote cuts off the first note. It returns the description of this note, and the notes after it.
// desc is nil if the note is not about a probe.
func cutNote(order binary.ByteOrder, notes []byte) (desc, rest []byte, err error) {
	if len(notes) < 12 {
		return nil, nil, errors.New("its notes of probes are cut")
	}
	nameSize, descSize, kind := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:])), order.Uint32(notes[8:])
	at := 12 + (nameSize+3)&^3
	end := at + descSize
	if end > uint64(len(notes)) {
		return nil, nil, errors.New("its notes of probes are cut")
	}
	name := notes[12 : 12+nameSize]
	rest = notes[min((end+3)&^3, uint64(len(notes))):]
	if kind != noteType || !bytes.Equal(bytes.TrimRight(name, "\x00"), []byte("stapsdt")) {
		return nil, rest, nil
	}
	return notes[at:end], rest, nil
}

// readNote reads the description of a note. The description begins with three addresses: that of the nop, that of the
// section .stapsdt.base when the note was written, and that of a semaphore (0 if there is none). Then come three texts:
// the provider, the name and the arguments.
func readNote(order binary.ByteOrder, desc []byte, set operandSyntax) (location, base uint64, p Probe, err error) {
	texts := bytes.SplitN(desc[min(24, len(desc)):], []byte{0}, 4)
	if len(texts) < 3 {
		return 0, 0, p, errors.New("a note of a probe is cut")
	}
	p.Provider, p.Name = string(texts[0]), string(texts[1])
	p.Args = parseOperands(string(texts[2]), set)
	return order.Uint64(desc), order.Uint64(desc[8:]), p, nil
}

// fileOffset converts an address in the library's code to the offset in the file. ok is false if no code is at that
// address.
func fileOffset(f *elf.File, addr uint64) (offset uint64, ok bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}
