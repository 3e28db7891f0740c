package cfi

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A section is an .eh_frame that a test builds by hand.
type section struct {
	data []byte
	last int // the offset of the CIE that functions refer to
}

// sectionBase is the address of the section. The functions of most tests begin at 0x1000.
const sectionBase = 0x10000

// pcrel4 is the encoding of addresses that all compilers use: DW_EH_PE_pcrel, DW_EH_PE_sdata4.
const pcrel4 = 0x1b

// record adds a record, padded to 8 bytes with nops.
func (s *section) record(body ...byte) int {
	at := len(s.data)
	for len(body)%8 != 4 {
		body = append(body, opNop)
	}
	s.data = binary.LittleEndian.AppendUint32(s.data, uint32(len(body)))
	s.data = append(s.data, body...)
	return at
}

// cie adds a CIE with the augmentation zR, or zRS for signal frames: the alignment factor of code is 1, that of data is
// -8.
func (s *section) cie(augmentation string, column byte, instructions ...byte) {
	body := append([]byte{0, 0, 0, 0, 1}, augmentation...)
	body = append(body, 0, 1, 0x78, column, 1, pcrel4)
	s.last = s.record(append(body, instructions...)...)
}

// function adds an FDE.
func (s *section) function(lo uint64, size uint32, instructions ...byte) {
	at := len(s.data) + 4
	body := binary.LittleEndian.AppendUint32(nil, uint32(at-s.last))
	body = binary.LittleEndian.AppendUint32(body, uint32(lo-(sectionBase+uint64(at)+4)))
	body = binary.LittleEndian.AppendUint32(body, size)
	s.record(append(append(body, 0), instructions...)...)
}

func (s *section) table(tb testing.TB, machine elf.Machine) *Table {
	tb.Helper()
	t, err := newTable(arches[machine], slices.Concat(s.data, []byte{0, 0, 0, 0}), sectionBase)
	require.NoError(tb, err)
	return t
}

// x86Entry has the rules for the first instruction of each function: the CFA is rsp+8, and the return address is there.
var x86Entry = []byte{opDefCFA, 7, 8, opOffset<<6 | 16, 1}

// x86 returns a table with the usual CIE of x86-64, and a function of 0x100 bytes at 0x1000.
func x86(tb testing.TB, instructions ...byte) *Table {
	tb.Helper()
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	s.function(0x1000, 0x100, instructions...)
	t := s.table(tb, elf.EM_X86_64)
	require.NoError(tb, t.Damage())
	return t
}

// arm64 is x86 for aarch64.
func arm64(tb testing.TB, instructions ...byte) *Table {
	tb.Helper()
	s := &section{}
	s.cie("zR", 30, opDefCFA, 31, 0)
	s.function(0x1000, 0x100, instructions...)
	t := s.table(tb, elf.EM_AARCH64)
	require.NoError(tb, t.Damage())
	return t
}

const stackBase = 0x7ffc0000

// stack returns a copy of a stack that begins with the given words.
func stack(words ...uint64) Memory {
	m := Memory{Base: stackBase}
	for _, w := range words {
		m.Data = binary.LittleEndian.AppendUint64(m.Data, w)
	}
	return m
}

// registers returns registers with a known pc. The other arguments are the numbers and values of further known
// registers, in turn.
func registers(pc uint64, numbersAndValues ...uint64) Registers {
	r := Registers{PC: pc}
	for i := 0; i < len(numbersAndValues); i += 2 {
		r.Set(int(numbersAndValues[i]), numbersAndValues[i+1])
	}
	return r
}
