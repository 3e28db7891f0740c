package cfi

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpen compares what Open and New find at the start, in the middle and after the end of each function of libjvm.so.
func TestOpen(t *testing.T) {
	file, f := newest(t)
	defer file.Close()
	all, err := New(f)
	require.NoError(t, err)
	lazy, err := Open(f)
	require.NoError(t, err)
	assert.Zero(t, lazy.functions[0].size, "it is not read yet")
	assert.Equal(t, all.Len(), lazy.Len())
	for _, want := range all.functions {
		for _, at := range []uint64{want.lo - 1, want.lo, want.lo + uint64(want.size)/2, want.lo + uint64(want.size) - 1,
			want.lo + uint64(want.size)} {
			f1, ok1 := all.find(at)
			f2, ok2 := lazy.find(at)
			require.Equal(t, ok1, ok2, "%#x", at)
			if ok1 {
				require.Equal(t, f1, f2, "%#x", at)
			}
		}
	}
	assert.Equal(t, all.Damage(), lazy.Damage())
}

// TestIndex reads indexes whose content is wrong.
func TestIndex(t *testing.T) {
	const base, frames = 0x5000, 0x4000
	data := make([]byte, 64)
	index := func(entries ...int32) []byte {
		b := []byte{1, 0x1b, 3, 0x3b, 0, 0, 0, 0}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(entries)/2))
		for _, e := range entries {
			b = binary.LittleEndian.AppendUint32(b, uint32(e))
		}
		return b
	}
	tests := []struct {
		name  string
		index []byte
		ok    bool
	}{
		{"two functions", index(-0x1000, frames-base, 0x10, frames-base+8), true},
		{"not sorted", index(0x10, frames-base, 0, frames-base+8), false},
		{"a record behind the section", index(0x10, frames-base+64), false},
		{"a record before the section", index(0x10, frames-base-1), false},
		{"no functions", index(), false},
		{"another version", append([]byte{2}, index(0x10, frames-base)[1:]...), false},
		{"another encoding", append([]byte{1, 0x1b, 3, 0x0b}, index(0x10, frames-base)[4:]...), false},
		{"too short for its count", index(0x10, frames-base)[:16], false},
		{"no head", []byte{1, 0x1b, 3}, false},
		{"nothing", nil, false},
	}
	for _, test := range tests {
		table := emptyTable(arches[elf.EM_X86_64], data, frames)
		assert.Equal(t, test.ok, table.readIndex(test.index, base), test.name)
		if test.ok {
			_, found := table.find(0x4000)
			assert.False(t, found, "there is no record, but zeros")
		} else {
			assert.Empty(t, table.functions, test.name)
		}
	}
}
