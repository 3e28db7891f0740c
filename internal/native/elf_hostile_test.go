package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An endless is a file with some content followed by zeros, like a sparse file of any size. It counts the bytes that
// are read.
type endless struct {
	head []byte
	read int
}

func (e *endless) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(e.head)) {
		copy(p, e.head[at:])
	}
	e.read += len(p)
	return len(p), nil
}

// hostileELF returns a 64-bit ELF file with sections, whose headers follow the file's header.
func hostileELF(t *testing.T, sections uint16, names elf.Section64) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, binary.Write(&b, binary.LittleEndian, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Shoff: 64, Shentsize: 64, Shnum: sections, Shstrndx: 0,
	}))
	require.NoError(t, binary.Write(&b, binary.LittleEndian, names))
	return b.Bytes()
}

// TestHostileELF: a file can claim to have tables of any size. Package elf would read them; NewELF must not.
func TestHostileELF(t *testing.T) {
	for what, c := range map[string]struct {
		sections uint16
		names    elf.Section64
		want     string
	}{
		"names without end": {1, elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: 1 << 40},
			"the names of its sections have 1099511627776 bytes"},
		"names a bit large": {1, elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: maxSectionNames + 1},
			"the names of its sections have 65537 bytes"},
		"compressed names": {1, elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: 100,
			Flags: uint64(elf.SHF_COMPRESSED)}, "the names of its sections"},
		"many sections": {maxSections + 1, elf.Section64{Type: uint32(elf.SHT_STRTAB)},
			"its ELF header has 1025 sections"},
		"a number elsewhere": {0, elf.Section64{Size: 1 << 32}, "its ELF header has 0 sections"},
	} {
		file := &endless{head: hostileELF(t, c.sections, c.names)}
		_, err := NewELF(file)
		assert.ErrorContains(t, err, c.want, what)
		assert.Less(t, file.read, 1<<18, what)
	}
	for what, c := range map[string]struct {
		each, number uint16
		class        elf.Class
		want         string
	}{
		"large program headers": {0xffff, 0xffff, elf.ELFCLASS64,
			"its ELF header has 65535 program headers, and at most 1024 are read"},
		"many program headers": {56, maxPrograms + 1, elf.ELFCLASS64, "its ELF header has 1025 program headers"},
		"wide program headers": {57, 1, elf.ELFCLASS64,
			"its ELF header has program headers with an impossible size: 57 bytes"},
		"many 32-bit program headers": {32, 0xffff, elf.ELFCLASS32, "its ELF header has 65535 program headers"},
		"large 32-bit program headers": {0xffff, 1, elf.ELFCLASS32,
			"its ELF header has program headers with an impossible size: 65535 bytes"},
	} {
		head := make([]byte, 64)
		copy(head, []byte{0x7f, 'E', 'L', 'F', byte(c.class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)})
		head[20] = byte(elf.EV_CURRENT)
		at, sizes := 32, 54
		if c.class == elf.ELFCLASS32 {
			at, sizes = 28, 42
		}
		head[at] = 64
		binary.LittleEndian.PutUint16(head[sizes:], c.each)
		binary.LittleEndian.PutUint16(head[sizes+2:], c.number)
		file := &endless{head: head}
		_, err := NewELF(file)
		assert.ErrorContains(t, err, c.want, what)
		assert.Less(t, file.read, 1<<18, what)
	}
	wide := hostileELF(t, 2, elf.Section64{Type: uint32(elf.SHT_STRTAB)})
	binary.LittleEndian.PutUint16(wide[58:], 0xffff)
	_, err := NewELF(&endless{head: wide})
	assert.ErrorContains(t, err, "sections with an impossible size: 65535 bytes")
	f, err := NewELF(&endless{head: hostileELF(t, maxSections,
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: maxSectionNames})})
	require.NoError(t, err)
	assert.Len(t, f.Sections, maxSections)
}

// A changing is a file whose headers change after they have been checked.
type changing struct {
	is, becomes endless
	reads       int
}

func (c *changing) ReadAt(p []byte, at int64) (int, error) {
	if c.reads++; c.reads > 2 { // the file's header and those of its sections were read
		return c.becomes.ReadAt(p, at)
	}
	return c.is.ReadAt(p, at)
}

func TestChangingELF(t *testing.T) {
	file := &changing{
		is:      endless{head: hostileELF(t, 1, elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: 16})},
		becomes: endless{head: hostileELF(t, 0xf000, elf.Section64{Type: uint32(elf.SHT_STRTAB), Size: 1 << 32})},
	}
	f, err := NewELF(file)
	require.NoError(t, err)
	assert.Len(t, f.Sections, 1)
	assert.Less(t, file.becomes.read, 1<<12)
}

// TestELFOfLibraries: NewELF reads the machine's libraries as package elf does.
func TestELFOfLibraries(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems' libraries are not ELF files")
	}
	read := 0
	require.NoError(t, filepath.WalkDir("/usr/lib", func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || read >= 2000 {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		want, err := elf.NewFile(file)
		if err != nil {
			return nil
		}
		read++
		got, err := NewELF(file)
		require.NoError(t, err, path)
		require.Len(t, got.Sections, len(want.Sections), path)
		for i, s := range want.Sections {
			require.Equal(t, s.SectionHeader, got.Sections[i].SectionHeader, path)
			if i == 1 && s.Type != elf.SHT_NOBITS {
				a, err := io.ReadAll(io.LimitReader(s.Open(), 1<<16))
				require.NoError(t, err)
				b, err := io.ReadAll(io.LimitReader(got.Sections[i].Open(), 1<<16))
				require.NoError(t, err)
				require.Equal(t, a, b, path)
			}
		}
		return nil
	}))
	assert.Greater(t, read, 20)
}
