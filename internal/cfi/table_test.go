package cfi

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEncodings reads the addresses of functions in all encodings.
func TestEncodings(t *testing.T) {
	t.Parallel()
	le := binary.LittleEndian
	for encoding, address := range map[byte][2][]byte{ // 0x3000, or a distance; the size 0x20
		0x00: {le.AppendUint64(nil, 0x3000), le.AppendUint64(nil, 0x20)},
		0x01: {{0x80, 0x60}, {0x20}},
		0x02: {{0, 0x30}, {0x20, 0}},
		0x03: {{0, 0x30, 0, 0}, {0x20, 0, 0, 0}},
		0x04: {le.AppendUint64(nil, 0x3000), le.AppendUint64(nil, 0x20)},
		0x08: {le.AppendUint64(nil, 0x3000), le.AppendUint64(nil, 0x20)},
		0x09: {{0x80, 0xe0, 0x00}, {0x20}},
		0x0a: {{0, 0x30}, {0x20, 0}},
		0x0b: {{0, 0x30, 0, 0}, {0x20, 0, 0, 0}},
		0x0c: {le.AppendUint64(nil, 0x3000), le.AppendUint64(nil, 0x20)},
		0x10: {le.AppendUint64(nil, 0x2000), le.AppendUint64(nil, 0x20)},
		0x1a: {{0xf0, 0xff}, {0x20, 0}}, // 16 bytes before it
		0x1b: {{0xf0, 0xff, 0xff, 0xff}, {0x20, 0, 0, 0}},
		0x1c: {{0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0x20, 0, 0, 0, 0, 0, 0, 0}},
	} {
		s := &section{}
		s.last = s.record(append([]byte{0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, encoding}, x86Entry...)...)
		at := len(s.data) + 4
		want := uint64(0x3000)
		switch encoding {
		case 0x10:
			want = sectionBase + uint64(at) + 4 + 0x2000
		case 0x1a, 0x1b, 0x1c:
			want = sectionBase + uint64(at) + 4 - 16
		}
		body := slices.Concat(le.AppendUint32(nil, uint32(at)), address[0], address[1], []byte{0, opDefCFAOffset, 16})
		s.record(body...)
		table := s.table(t, elf.EM_X86_64)
		require.NoError(t, table.Damage(), "%#x", encoding)
		require.Equal(t, 1, table.Len())
		step(t, table, registers(want, rsp, stackBase), stack(1, 2), registers(2, rsp, stackBase+16))
		step(t, table, registers(want+0x1f, rsp, stackBase), stack(1, 2), registers(2, rsp, stackBase+16))
		fails(t, table, registers(want+0x21, rsp, stackBase), stack(1, 2), NoFunction)
	}
}

// TestCIEs reads CIEs of all versions, and with augmentations other than zR.
func TestCIEs(t *testing.T) {
	t.Parallel()
	for what, head := range map[string][]byte{
		"without augmentation": {1, 0, 1, 0x78, 16},
		"version 3":            {3, 0, 1, 0x78, 0x90, 0x00},
		"version 4":            {4, 0, 8, 0, 1, 0x78, 16},
		"exceptions":           {1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x00},
		"all letters":          {1, 'z', 'P', 'L', 'R', 'B', 'G', 0, 1, 0x78, 16, 7, 0x1b, 1, 2, 3, 4, 5, 0},
	} {
		s := &section{}
		s.last = s.record(slices.Concat([]byte{0, 0, 0, 0}, head, x86Entry)...)
		body := binary.LittleEndian.AppendUint32(nil, uint32(len(s.data)+4))
		body = binary.LittleEndian.AppendUint64(body, 0x1000)
		body = binary.LittleEndian.AppendUint64(body, 0x100)
		if head[1] == 'z' {
			body = append(body, 2, 0xff, 0xff) // the length of the augmentation data, and data for exceptions
		}
		s.record(append(body, opDefCFAOffset, 16)...)
		table := s.table(t, elf.EM_X86_64)
		require.NoError(t, table.Damage(), what)
		step(t, table, registers(0x1000, rsp, stackBase), stack(1, 2), registers(2, rsp, stackBase+16))
	}
}

// TestDamage: damaged records are left out, and the function after them is still found.
func TestDamage(t *testing.T) {
	t.Parallel()
	for want, head := range map[string][]byte{
		"its CIE has the version 2":                      {2, 0},
		"its CIE has a long augmentation string":         {1, 'z', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 0},
		"its CIE has addresses that do not have 8 bytes": {4, 0, 4, 0, 1, 0x78, 16},
		"its CIE has the return address in register 33":  {1, 0, 1, 0x78, 33},
		`its CIE has the augmentation "eh"`:              {1, 'e', 'h', 0, 1, 0x78, 16},
		`its CIE has the augmentation "zX"`:              {1, 'z', 'X', 0, 1, 0x78, 16, 0},
		"its CIE is cut off":                             {1, 'z', 0, 1, 0x78, 16, 100},
		"its CIE has an aligned pointer":                 {1, 'z', 'P', 0, 1, 0x78, 16, 2, 0x50, 0},
		"its CIE has short augmentation data":            {1, 'z', 'R', 0, 1, 0x78, 16, 0},
		"addresses can't be read with the encoding 0x9b": {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x9b},
		"addresses can't be read with the encoding 0x3b": {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x3b},
		"addresses can't be read with the encoding 0xff": {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0xff},
		"its function has 4294967296 bytes":              {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x04},
		"the record at 0x10: its CIE has the version 0":  {0},
	} {
		s := &section{}
		s.last = s.record(slices.Concat([]byte{0, 0, 0, 0}, head)...)
		body := binary.LittleEndian.AppendUint32(nil, uint32(len(s.data)+4))
		body = binary.LittleEndian.AppendUint64(body, 0x1000)
		s.record(binary.LittleEndian.AppendUint64(body, 1<<32)...)
		s.cie("zR", 16, x86Entry...)
		s.function(0x2000, 0x100)
		table := s.table(t, elf.EM_X86_64)
		assert.ErrorContains(t, table.Damage(), want)
		assert.Equal(t, 1, table.Len(), want)
		step(t, table, registers(0x2000, rsp, stackBase), stack(1, 2), registers(1, rsp, stackBase+8))
	}
}

// TestDamagedLengths: a record that is longer than the section ends the index.
func TestDamagedLengths(t *testing.T) {
	t.Parallel()
	for what, tail := range map[string][]byte{
		"longer than the section":  {0xff, 0, 0, 0, 1, 2, 3, 4},
		"64 bits":                  append(bytes.Repeat([]byte{0xff}, 12), 1, 2, 3, 4),
		"64 bits, cut off":         {0xff, 0xff, 0xff, 0xff, 1},
		"no room for the CIE":      {1, 0, 0, 0, 1},
		"a length that is cut off": {1, 0},
	} {
		s := &section{}
		s.cie("zR", 16, x86Entry...)
		s.function(0x1000, 0x100)
		table, err := newTable(arches[elf.EM_X86_64], append(s.data, tail...), sectionBase)
		require.NoError(t, err)
		assert.ErrorContains(t, table.Damage(), "it is longer than the section", what)
		assert.Equal(t, 1, table.Len(), what)
	}
	s := &section{}
	s.record(0xff, 0xff, 0, 0)
	assert.ErrorContains(t, s.table(t, elf.EM_X86_64).Damage(), "its CIE is before the section")
	s = &section{}
	s.cie("zR", 16)
	s.function(0x1000, 0x10)
	s.last = s.record(2, 0, 0, 0) // its CIE is in the middle of another record
	s.function(0x2000, 0x10)
	assert.ErrorContains(t, s.table(t, elf.EM_X86_64).Damage(), "its CIE is not")
}

// TestOrder: functions are found whatever their order in the section is. Functions that the linker has left out are not
// found.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	s.function(0x3000, 0x10, opDefCFAOffset, 24)
	s.function(0, 0x10000)
	s.function(0x1000, 0x10)
	s.data = append(s.data, 0, 0, 0, 0) // the end of an object file's section
	s.function(0x2000, 0)
	s.function(0x2000, 0x10, opDefCFAOffset, 16)
	table := s.table(t, elf.EM_X86_64)
	require.NoError(t, table.Damage())
	assert.Equal(t, 3, table.Len())
	for i, lo := range []uint64{0x1000, 0x2000, 0x3000} {
		n := uint64(i + 1)
		step(t, table, registers(lo, rsp, stackBase), stack(1, 2, 3), registers(n, rsp, stackBase+8*n))
		fails(t, table, registers(lo-1, rsp, stackBase), stack(1, 2, 3), NoFunction)
		fails(t, table, registers(lo+0x11, rsp, stackBase), stack(1, 2, 3), NoFunction)
	}
	assert.Less(t, table.Size(), 1<<14)
}

// TestLimits: a table does not grow without limit.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := &section{}
	for i := range maxCIEs + 1 {
		s.cie("zR", 16)
		s.function(0x1000+uint64(i), 1)
	}
	_, err := newTable(arches[elf.EM_X86_64], s.data, sectionBase)
	assert.EqualError(t, err, "its .eh_frame has more than 16384 CIEs")

	s = &section{}
	s.cie("zR", 16)
	s.data = slices.Grow(s.data, 20*(maxFunctions+1))
	for i := range maxFunctions + 1 {
		s.function(0x100_0000+uint64(i), 1)
	}
	_, err = newTable(arches[elf.EM_X86_64], s.data, sectionBase)
	assert.EqualError(t, err, "its .eh_frame has more than 1048576 functions")
}

// elfFile returns a file with one section, and the section that has the sections' names.
func elfFile(t *testing.T, s elf.Section64, machine elf.Machine, data []byte) *elf.File {
	t.Helper()
	const names = "\x00.eh_frame\x00"
	var b bytes.Buffer
	s.Name, s.Off = 1, 64+3*64+uint64(len(names))
	for _, part := range []any{
		elf.Header64{
			Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_DYN), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
			Shoff: 64, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2,
		},
		elf.Section64{}, s, elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: 64 + 3*64, Size: uint64(len(names))},
		[]byte(names), data,
	} {
		require.NoError(t, binary.Write(&b, binary.LittleEndian, part))
	}
	f, err := elf.NewFile(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	return f
}

func TestNew(t *testing.T) {
	t.Parallel()
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	s.function(0x1000, 0x100)
	header := elf.Section64{Type: uint32(elf.SHT_PROGBITS), Addr: sectionBase, Size: uint64(len(s.data))}
	table, err := New(elfFile(t, header, elf.EM_X86_64, s.data))
	require.NoError(t, err)
	assert.NoError(t, table.Damage())
	step(t, table, registers(0x1000, rsp, stackBase), stack(1), registers(1, rsp, stackBase+8))

	_, err = New(elfFile(t, header, elf.EM_RISCV, s.data))
	assert.EqualError(t, err, "its .eh_frame is not read: it is for EM_RISCV, ELFCLASS64, ELFDATA2LSB")
	_, err = New(elfFile(t, elf.Section64{Type: uint32(elf.SHT_NOBITS), Size: 1 << 40}, elf.EM_X86_64, nil))
	assert.True(t, errors.Is(err, ErrNone))
	_, err = New(elfFile(t, elf.Section64{Type: uint32(elf.SHT_PROGBITS), Size: 1 << 40}, elf.EM_X86_64, nil))
	assert.EqualError(t, err, "its .eh_frame has 1099511627776 bytes, and at most 67108864 are read")
	_, err = New(elfFile(t, elf.Section64{Type: uint32(elf.SHT_PROGBITS), Size: 1 << 20}, elf.EM_X86_64, s.data))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
