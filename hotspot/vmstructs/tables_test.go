package vmstructs

import (
	"encoding/binary"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

// someTables has a row or two of each kind.
var someTables = vmtest.Tables{
	Offsets: map[string]uint64{"Method::_constMethod": 8, "ConstMethod::_flags._flags": 28},
	Statics: map[string]uint64{"CodeCache::_heaps": 0x7f0000001000},
	Sizes:   map[string]uint64{"ConstMethod": 56, "Array<ResolvedFieldEntry>": 32},
	Ints:    map[string]int32{"ConstMethod::_has_linenumber_table": 1, "InvocationEntryBci": -1},
	Types:   map[string]string{"Method::_constMethod": "ConstMethod*", "CodeCache::_heaps": "GrowableArray<CodeHeap*>*"},
}

// columns returns these fields as columns, with their types in someTables.
func columns(places map[string]uint64) map[string]column {
	fields := map[string]column{}
	for name, at := range places {
		fields[name] = column{at, someTables.Types[name]}
	}
	return fields
}

func TestTables(t *testing.T) {
	m := vmtest.New()
	symbols := m.AddTables(someTables)
	got, err := readTables(Memory{reader: m}, symbols.Address)
	require.NoError(t, err)
	assert.Equal(t, tables{offsets: columns(someTables.Offsets), statics: columns(someTables.Statics),
		sizes: someTables.Sizes, ints: someTables.Ints}, got)
}

// TestShortColumn: a table may have rows of 12 bytes for HotSpot's 32-bit constants, although no machine of today has
// such tables. A read of eight bytes at the end of such a row would include bytes that do not belong to the constant.
func TestShortColumn(t *testing.T) {
	m := vmtest.New()
	symbols := m.AddTables(someTables)
	rows := binary.LittleEndian.AppendUint64(nil, m.AddText("seven"))
	rows = binary.LittleEndian.AppendUint32(rows, 7)
	rows = append(append(rows, make([]byte, 8)...), "what follows it"...)
	symbols["gHotSpotVMIntConstants"] = m.AddUint64(m.Add(rows...))
	symbols["gHotSpotVMIntConstantEntryArrayStride"] = m.AddUint64(12)
	got, err := readTables(Memory{reader: m}, symbols.Address)
	require.NoError(t, err)
	assert.Equal(t, map[string]int32{"seven": 7}, got.ints)
}

func TestTablesErrors(t *testing.T) {
	cases := map[string]struct {
		damage func(m *vmtest.Memory, symbols vmtest.Symbols)
		want   string
	}{
		"no table": {func(_ *vmtest.Memory, s vmtest.Symbols) { delete(s, "gHotSpotVMTypes") },
			"no symbol gHotSpotVMTypes"},
		"no column": {func(_ *vmtest.Memory, s vmtest.Symbols) { delete(s, "gHotSpotVMStructEntryOffsetOffset") },
			"EntryOffsetOffset"},
		"variable unmapped": {func(_ *vmtest.Memory, s vmtest.Symbols) { s["gHotSpotVMTypes"] = 8 },
			"reading 4096 bytes at 0x0"},
		"table unmapped": {func(m *vmtest.Memory, s vmtest.Symbols) { s["gHotSpotVMTypes"] = m.AddUint64(8) },
			"reading 4096 bytes at 0x0"},
		"rows of no size": {func(m *vmtest.Memory, s vmtest.Symbols) { s["gHotSpotVMTypeEntryArrayStride"] = m.AddUint64(0) },
			"gHotSpotVMType can't have rows of 0 bytes"},
		"rows too large": {func(m *vmtest.Memory,
			s vmtest.Symbols) {
			s["gHotSpotVMTypeEntryArrayStride"] = m.AddUint64(1 << 40)
		},
			"can't have rows of 1099511627776 bytes"},
		"column beyond its row": {func(m *vmtest.Memory,
			s vmtest.Symbols) {
			s["gHotSpotVMTypeEntrySizeOffset"] = m.AddUint64(32)
		},
			"can't have rows of 32 bytes with columns at [0 32]"},
		"name unmapped": {func(m *vmtest.Memory, s vmtest.Symbols) {
			s["gHotSpotVMTypes"] = m.AddUint64(m.AddUint64(1, 0, 0, 0, 0, 0, 0, 0))
		}, "reading 4096 bytes at 0x0"},
		"name without end": {func(m *vmtest.Memory, s vmtest.Symbols) {
			name := m.Add([]byte(strings.Repeat("x", 2*maxText))...)
			s["gHotSpotVMTypes"] = m.AddUint64(m.AddUint64(name, 0, 0, 0, 0, 0, 0, 0))
		}, "has no end"},
		"table without end": {func(m *vmtest.Memory, s vmtest.Symbols) {
			name := m.AddText("T")
			s["gHotSpotVMTypes"] = m.AddUint64(m.AddUint64(slices.Repeat([]uint64{name}, 4*maxRows+4)...))
		}, "gHotSpotVMType has no end: it has more than 32768 rows"},
	}
	require.NotEmpty(t, cases)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := vmtest.New()
			symbols := m.AddTables(someTables)
			c.damage(m, symbols)
			_, err := readTables(Memory{reader: m}, symbols.Address)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "reading HotSpot's tables of its structures")
		})
	}
}

func TestVM(t *testing.T) {
	m := vmtest.New()
	tables := someTables
	tables.Statics = map[string]uint64{"Abstract_VM_Version::_vm_major_version": m.Add(17, 0, 0, 0)}
	symbols := m.AddTables(tables)
	vm, err := New(m, symbols.Address)
	require.NoError(t, err)
	assert.Equal(t, 17, vm.Release)
	offset, ok := vm.Offset("ConstMethod::_flags._flags")
	assert.True(t, ok)
	assert.Equal(t, uint64(28), offset)
	at, ok := vm.Static("Abstract_VM_Version::_vm_major_version")
	assert.True(t, ok)
	assert.Equal(t, uint64(vmtest.Base), at)
	size, ok := vm.Size("ConstMethod")
	assert.True(t, ok)
	assert.Equal(t, uint64(56), size)
	n, ok := vm.Int("InvocationEntryBci")
	assert.True(t, ok)
	assert.Equal(t, int32(-1), n)
	_, ok = vm.Offset("Abstract_VM_Version::_vm_major_version")
	assert.False(t, ok, "it is static")

	_, err = New(m, func(string) (uint64, error) { return 0, io.ErrClosedPipe })
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestRelease(t *testing.T) {
	m := vmtest.New()
	version := m.Add(25, 0, 0, 0)
	cases := map[string]struct {
		statics map[string]uint64
		want    int
		err     string
	}{
		"JDK 25": {map[string]uint64{"Abstract_VM_Version::_vm_major_version": version, "CodeCache::_heaps": 1}, 25, ""},
		"JDK 8":  {map[string]uint64{"Abstract_VM_Version::_vm_major_version": version, "CodeCache::_heap": 1}, 8, ""},
		"none":   {map[string]uint64{"CodeCache::_heaps": 1}, 0, "do not have its version"},
		"wild":   {map[string]uint64{"Abstract_VM_Version::_vm_major_version": 7}, 0, "reading 4 bytes at 0x7"},
	}
	require.NotEmpty(t, cases)
	for name, c := range cases {
		symbols := m.AddTables(vmtest.Tables{Statics: c.statics})
		vm, err := New(m, symbols.Address)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.want, vm.Release, name)
	}
}

func TestMemory(t *testing.T) {
	m := vmtest.New()
	at := m.Add(1, 2, 3, 4, 5, 6, 7, 8)
	memory := Memory{reader: m}
	buf := make([]byte, 2, 6)
	got, err := memory.Read(buf, at+1, 5)
	require.NoError(t, err)
	assert.Equal(t, []byte{2, 3, 4, 5, 6}, got)
	assert.Equal(t, []byte{2, 3}, buf, "they are in the same memory")
	got, err = memory.Read(buf, at, 8)
	require.NoError(t, err)
	assert.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 8}, got)
	long, err := memory.Uint64(at)
	require.NoError(t, err)
	assert.Equal(t, uint64(0x0807060504030201), long)
	short, err := memory.Uint32(at + 4)
	require.NoError(t, err)
	assert.Equal(t, uint32(0x08070605), short)
	_, err = memory.Read(nil, at, maxRead+1)
	require.ErrorContains(t, err, "more than any structure of HotSpot has")
	_, err = memory.Uint64(vmtest.Base - 1)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = memory.Uint32(vmtest.Base - 1)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// TestGatherSome reads pieces from a memory that is not a gatherer.
func TestGatherSome(t *testing.T) {
	m := vmtest.New()
	at := m.Add(1, 2, 3)
	pieces := []Piece{{at, make([]byte, 1)}, {8, make([]byte, 1)}, {at + 2, make([]byte, 1)}}
	ok, err := Memory{reader: m}.GatherSome(pieces)
	require.NoError(t, err)
	assert.Equal(t, []bool{true, false, true}, ok)
	assert.Equal(t, []byte{1, 0, 3}, []byte{pieces[0].Buf[0], pieces[1].Buf[0], pieces[2].Buf[0]})
}

// TestGatherSomeBudget checks that the budget is charged once for each piece, also if there are pieces that can't be
// read or are too large.
func TestGatherSomeBudget(t *testing.T) {
	m := vmtest.New()
	at := m.Add(1, 2, 3)
	budget := NewBudget(3, 0)
	memory := Memory{reader: m, budget: budget}
	pieces := []Piece{{at, make([]byte, maxRead+1)}, {8, make([]byte, 1)}, {at, make([]byte, maxRead+1)},
		{at + 2, make([]byte, 1)}, {at, make([]byte, 1)}, {at, make([]byte, maxRead+1)}}
	ok, err := memory.GatherSome(pieces)
	require.NoError(t, err)
	assert.Equal(t, []bool{false, false, false, true, true, false}, ok)
	assert.Zero(t, budget.left)
	_, err = memory.GatherSome(append(pieces, Piece{at, make([]byte, 1)}))
	require.ErrorIs(t, err, ErrBudget)
}

// TestFields reads fields with the sizes of HotSpot's tables.
func TestFields(t *testing.T) {
	m := vmtest.New()
	symbols := m.AddTables(vmtest.Tables{
		Offsets: map[string]uint64{"T::a": 1, "T::b": 2, "T::c": 4, "T::d": 6, "T::e": 0},
		Statics: map[string]uint64{"Abstract_VM_Version::_vm_major_version": m.Add(17, 0, 0, 0), "T::s": 4711},
		Sizes:   map[string]uint64{"u2": 2, "CompLevel": 1},
		Types: map[string]string{"T::a": "CompLevel", "T::b": "u2", "T::c": "volatile signed char", "T::d": "Metadata*",
			"T::s": "const u2"},
	})
	vm, err := New(m, symbols.Address)
	require.NoError(t, err)
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	for name, want := range map[string]uint64{"T::a": 2, "T::b": 0x0403, "T::c": 5, "T::d": 0x0e0d0c0b0a090807,
		"T::e": 0} {
		f, ok := vm.Field(name)
		require.True(t, ok)
		assert.Equal(t, want, f.In(data), name)
	}
	d, _ := vm.Field("T::d")
	assert.Zero(t, d.In(data[:13]), "the copy does not have all of it")
	assert.Equal(t, uint64(0), Field{At: ^uint64(0), Size: 8}.In(data))
	s, ok := vm.StaticField("T::s")
	require.True(t, ok)
	assert.Equal(t, Field{At: 4711, Size: 2, Type: "const u2"}, s)
	_, ok = vm.Field("T::s")
	assert.False(t, ok)
}

// TestPages reads across page ends, and checks that each page is read once.
func TestPages(t *testing.T) {
	m := vmtest.New()
	m.Add(make([]byte, 2*pageSize-4)...)
	m.Data = append(m.Data, "across pages\x00"...)
	m.Add(make([]byte, pageSize)...)
	r := pageReader{Memory{reader: m}, map[uint64][]byte{}}
	text, err := r.text(vmtest.Base + 2*pageSize - 4)
	require.NoError(t, err)
	assert.Equal(t, "across pages", text)
	assert.Len(t, r.pages, 2)
	buf := make([]byte, pageSize+8)
	require.NoError(t, r.read(buf, vmtest.Base+2*pageSize-4))
	assert.Equal(t, "across pages\x00", string(buf[:13]))
	assert.Len(t, r.pages, 3)
	clear(m.Data)
	text, err = r.text(vmtest.Base + 2*pageSize + 3)
	require.NoError(t, err)
	assert.Equal(t, "pages", text, "the page was kept")
	_, err = r.text(vmtest.Base + 1<<20)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// FuzzTables changes bytes of the tables, because the memory of a process may hold anything. Each change consists of
// three bytes: two of an offset, and the new byte.
func FuzzTables(f *testing.F) {
	m := vmtest.New()
	symbols := m.AddTables(someTables)
	whole := slices.Clone(m.Data)
	f.Add([]byte{})
	for _, name := range slices.Sorted(maps.Keys(symbols)) { // all symbols that locate the tables
		at := symbols[name] - vmtest.Base
		for _, value := range []byte{0, 1, 8, 0xff} {
			f.Add([]byte{byte(at), byte(at >> 8), value})
			f.Add([]byte{byte(at), byte(at >> 8), value, byte(at + 1), byte((at + 1) >> 8), value})
		}
	}
	f.Fuzz(func(t *testing.T, patches []byte) {
		m.Data = append(m.Data[:0], whole...)
		for ; len(patches) >= 3; patches = patches[3:] {
			if at := int(patches[0]) | int(patches[1])<<8; at < len(m.Data) {
				m.Data[at] = patches[2]
			}
		}
		got, err := readTables(Memory{reader: m}, symbols.Address)
		if err != nil {
			assert.Equal(t, tables{}, got)
			return
		}
		assert.LessOrEqual(t, len(got.offsets)+len(got.statics), maxRows)
		for name := range got.offsets {
			assert.Contains(t, name, "::")
			assert.Less(t, len(name), 2*maxText+len("::"))
		}
		for name := range got.sizes {
			assert.Less(t, len(name), maxText)
		}
	})
}
