package cfi

import (
	"bytes"
	"cmp"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// seeds returns small sections: one built by hand, and the beginnings of the sections of a real library, if this
// machine has one.
func seeds(tb testing.TB) [][]byte {
	tb.Helper()
	s := &section{}
	s.cie("zR", 16, x86Entry...)
	s.function(0x1000, 0x100, plt...)
	s.cie("zRS", 16, x86Entry...)
	s.function(0x2000, 0x100, opAdvance<<6|1, opRememberState, opDefCFAOffset, 16, opAdvance<<6|1, opRestoreState)
	found := [][]byte{s.data}
	paths, _ := filepath.Glob("/usr/lib/*-linux-gnu/libc.so.6") // the pattern is well-formed
	for _, path := range paths {
		file, err := os.Open(path)
		require.NoError(tb, err)
		defer file.Close()
		f, err := elf.NewFile(file)
		require.NoError(tb, err)
		head := make([]byte, 512)
		n, _ := f.Section(".eh_frame").ReadAt(head, 0)
		found = append(found, head[:n])
	}
	return found
}

// chooseArch returns one of the two instruction sets.
func chooseArch(aarch64 bool) *arch {
	if aarch64 {
		return arches[elf.EM_AARCH64]
	}
	return arches[elf.EM_X86_64]
}

// unwindAnywhere takes a step from an address with registers that point into the stack, and checks what must hold for
// any table: a failed step changes no register, and a second step from the same state has the same result.
func unwindAnywhere(t *testing.T, table *Table, addr uint64, exact bool, known uint32, m Memory) {
	r := Registers{PC: addr, Known: known}
	for i := range r.Values {
		r.Values[i] = m.Base + 8*uint64(i)
	}
	before, again := r, r
	result, err := table.Unwind(addr, exact, &r, m)
	require.Equal(t, result == Damaged, err != nil)
	require.NotEmpty(t, result.String())
	if result != Caller && result != Interrupted {
		require.Equal(t, before, r)
	}
	second, _ := table.Unwind(addr, exact, &again, m)
	require.Equal(t, result, second)
	require.Equal(t, r, again)
}

// FuzzTable reads any bytes as a section, and takes a step from an address in each of its functions.
func FuzzTable(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, false)
		f.Add(s, true)
	}
	m := stack(0x1000, 0x2000, 3, 4, stackBase+8, 6, 7, 8)
	f.Fuzz(func(t *testing.T, data []byte, aarch64 bool) {
		table, err := newTable(chooseArch(aarch64), bytes.Clone(data), sectionBase)
		if err != nil {
			require.Greater(t, len(data), 10*maxCIEs, "there are too many records")
			return
		}
		byStart := func(a, b function) int { return cmp.Compare(a.lo, b.lo) }
		require.True(t, slices.IsSortedFunc(table.functions, byStart))
		require.LessOrEqual(t, table.Len(), len(data)/10, "the length, the CIE, and two numbers")
		for i, fn := range table.functions {
			require.NotZero(t, fn.size)
			require.LessOrEqual(t, fn.lo, fn.lo+uint64(fn.size))
			if i < 8 {
				for _, addr := range []uint64{fn.lo - 1, fn.lo, fn.lo + uint64(fn.size)/2, fn.lo + uint64(fn.size)} {
					unwindAnywhere(t, table, addr, i%2 == 0, 0xffff_ffff, m)
				}
			}
		}
		require.LessOrEqual(t, len(table.rows), 64)
	})
}

// FuzzUnwind runs any instructions, in a CIE and in a function, with any stack.
func FuzzUnwind(f *testing.F) {
	f.Add(x86Entry, plt, []byte("stack of more than 8 bytes"), uint32(0xffff), byte(12), false, true)
	f.Add([]byte{opDefCFA, sp, 0}, []byte{opOffset<<6 | x29, 4, opOffset<<6 | x30, 3}, []byte{1, 2}, uint32(1<<sp),
		byte(0), true, false)
	f.Add([]byte{}, []byte{opDefCFAExpression, 7, dwLit0 + 5, dwLit0 + 1, dwMinus, dwDup, dwBra, 0xfa, 0xff,
		opRememberState, opRestoreState, opValExpression, rbx, 2, dwPick, 1}, make([]byte, 64), ^uint32(0),
		byte(1), false, false)
	f.Fuzz(func(t *testing.T, first, instructions, memory []byte, known uint32, pc byte, aarch64, signal bool) {
		s := &section{}
		augmentation, a := "zR", chooseArch(aarch64)
		if signal {
			augmentation = "zRS"
		}
		column := byte(16)
		if aarch64 {
			column = x30
		}
		s.cie(augmentation, column, first...)
		s.function(0x1000, 0x100, instructions...)
		table, err := newTable(a, s.data, sectionBase)
		require.NoError(t, err)
		require.NoError(t, table.Damage())
		require.Equal(t, 1, table.Len())
		unwindAnywhere(t, table, 0x1000+uint64(pc), true, known, Memory{Base: stackBase, Data: memory})
		unwindAnywhere(t, table, 0x1000+uint64(pc), false, known, Memory{Base: stackBase, Data: memory})
	})
}
