package nativecode

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
)

// sample returns two functions of libraries and one of the kernel.
func sample() []Function {
	long := bytes.Repeat([]byte{0x90}, 150)
	return []Function{
		{Module: "libzip.so", Symbol: "crc32_z", Arch: disasm.AMD64, Lo: 0x2a40, Code: []byte{0x55, 0x48, 0x89, 0xe5, 0xc3},
			Rows: []Row{
				{0x2a40, 0x2a41, []Frame{{"crc32_z", "/home/me/zip.c", 84}}},
				{0x2a41, 0x2a44, []Frame{{"add", "/home/me/my add.h", 3}, {"crc32_z", "/home/me/zip.c", 85}}},
				{0x2a44, 0x2a45, []Frame{{"", "", 0}}}},
			Targets: map[uint64]string{0x2980: "memcpy", 0x2970: "add"},
			Places:  []Place{{7, 0x7f0000002a40}, {8, 0x7f1000002a40}}},
		{Module: "my lib\n.so", Symbol: " f<A, B>\\(x)\n", Arch: disasm.ARM64, Lo: 0x10, Code: long,
			Places: []Place{{7, 0x10}}},
		{Module: "kernel", Arch: disasm.AMD64, Lo: 0xffffffff81000000, Code: []byte{0xc3}},
	}
}

func tableOf(t testing.TB, functions ...Function) *Table {
	t.Helper()
	table := &Table{}
	for _, f := range functions {
		require.True(t, table.Add(f))
	}
	table.Index()
	return table
}

func textOf(t testing.TB, table *Table) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, table.Write(&text))
	return text.String()
}

func TestRoundTrip(t *testing.T) {
	table := tableOf(t, sample()...)
	text := textOf(t, table)
	nops := strings.Repeat("90", 64)
	assert.Equal(t, header+`name 1 /home/me/zip.c
name 2 crc32_z
name 3 /home/me/my add.h
name 4 add
name 5 memcpy
function libzip.so amd64 0x2a40 crc32_z
at 7 0x7f0000002a40
at 8 0x7f1000002a40
code 554889e5c3
line 0x2a40 0x2a41 1:84:2
line 0x2a41 0x2a44 3:3:4 1:85:2
line 0x2a44 0x2a45 0:0:0
target 0x2970 4
target 0x2980 5
function my\040lib\012.so arm64 0x10  f<A, B>\134(x)\012
at 7 0x10
code `+nops+"\ncode "+nops+"\ncode "+strings.Repeat("90", 22)+`
function kernel amd64 0xffffffff81000000
code c3
`, text)
	back, err := Read(strings.NewReader(text), "code")
	require.NoError(t, err)
	n, first := back.BadLines()
	assert.Zero(t, n, "%v", first)
	assert.Equal(t, sample(), back.Functions)
}

func TestFind(t *testing.T) {
	table := tableOf(t, sample()...)
	check := func(pid int, pc uint64, function int, addr uint64, want bool) {
		t.Helper()
		f, at, ok := table.Find(pid, pc)
		assert.Equal(t, want, ok, "%d %#x", pid, pc)
		if ok {
			assert.Equal(t, []uint64{uint64(function), addr}, []uint64{uint64(f), at})
		}
	}
	check(7, 0x7f0000002a40, 0, 0x2a40, true)
	check(8, 0x7f1000002a44, 0, 0x2a44, true)
	check(8, 0x7f1000002a45, 0, 0, false)
	check(8, 0x7f0000002a40, 0, 0, false)
	check(7, 0x11, 1, 0x11, true)
	check(7, 0xffffffff81000000, 0, 0, false)
	f, at, ok := table.FindKernel(0xffffffff81000000)
	assert.True(t, ok)
	assert.Equal(t, 2, f)
	assert.Equal(t, uint64(0xffffffff81000000), at)
	_, _, ok = table.FindKernel(0x11)
	assert.False(t, ok)
	_, _, ok = (*Table)(nil).Find(7, 0x11)
	assert.False(t, ok)

	assert.Equal(t, 85, table.Functions[0].Row(0x2a43).Frames[1].Line)
	assert.Nil(t, table.Functions[1].Row(0x11))
}

// TestOverlaps: a process may have had two libraries at the same address, one after the other.
func TestOverlaps(t *testing.T) {
	code := make([]byte, 16)
	table := tableOf(t, Function{Module: "a", Lo: 0, Code: code, Places: []Place{{7, 0x100}}},
		Function{Module: "b", Lo: 0, Code: code, Places: []Place{{7, 0x108}}})
	f, _, ok := table.Find(7, 0x10c)
	assert.True(t, ok)
	assert.Zero(t, f)
	_, _, ok = table.Find(7, 0x114)
	assert.False(t, ok)
}

func TestLimits(t *testing.T) {
	table := &Table{}
	assert.False(t, table.Add(Function{Module: "empty"}))
	assert.False(t, table.Add(Function{Code: make([]byte, MaxSize+1)}))
	assert.False(t, table.Add(Function{Lo: ^uint64(0) - 3, Code: make([]byte, 5)}))
	big := make([]byte, MaxSize)
	n := 0
	for table.Add(Function{Module: "big", Code: big}) {
		n++
	}
	assert.Equal(t, MaxCode/MaxSize, n)

	table = &Table{}
	rows := make([]Row, MaxRows/2+1)
	for range 2 {
		require.True(t, table.Add(Function{Module: "rows", Code: []byte{1}, Rows: rows}))
	}
	assert.Len(t, table.Functions[0].Rows, len(rows))
	assert.Nil(t, table.Functions[1].Rows)

	targets := map[uint64]string{}
	for i := range uint64(MaxTargets) {
		targets[i] = "f"
	}
	table = &Table{}
	for range maxAllTargets/MaxTargets + 1 {
		require.True(t, table.Add(Function{Module: "targets", Code: []byte{1}, Targets: targets}))
	}
	assert.Len(t, table.Functions[maxAllTargets/MaxTargets-1].Targets, MaxTargets)
	assert.Nil(t, table.Functions[maxAllTargets/MaxTargets].Targets)
}

// TestLongNames: functions with names that Read would reject are not written; all others are.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", longestName+1)
	text := textOf(t, tableOf(t, Function{Module: "libx.so", Symbol: long, Arch: disasm.AMD64, Lo: 0x10,
		Code:    []byte{0x90, 0x90},
		Rows:    []Row{{Lo: 0x10, Hi: 0x12, Frames: []Frame{{Function: long, File: "a.c", Line: 3}}}},
		Targets: map[uint64]string{0x20: long, 0x30: "f"}}))
	table, err := Read(strings.NewReader(text), "a")
	require.NoError(t, err)
	n, first := table.BadLines()
	require.Zero(t, n, "%v", first)
	f := &table.Functions[0]
	assert.Empty(t, f.Symbol)
	assert.Equal(t, []Row{{Lo: 0x10, Hi: 0x12, Frames: []Frame{{File: "a.c", Line: 3}}}}, f.Rows)
	assert.Equal(t, map[uint64]string{0x30: "f"}, f.Targets)
}

func TestBadLines(t *testing.T) {
	check := func(line, want string) {
		t.Helper()
		table, err := Read(strings.NewReader("name 1 f\nfunction a amd64 0x10 f\ncode 9090\n"+line+"\n"), "code")
		require.NoError(t, err)
		n, first := table.BadLines()
		assert.Equal(t, 1, n)
		assert.ErrorContains(t, first, "code:4: "+want)
		assert.Len(t, table.Functions, 1)
	}
	check("x", "unknown kind of line")
	check("name 0 f", "bad number of a name")
	check("name 2 ", "the name is empty")
	check("function  amd64 0x10 f", "bad name of a function")
	check("function a amd64 10 f", "bad address")
	check("at 7", "bad place")
	check("code 9", "bad bytes")
	check("code ", "bad bytes")
	check("line 0x10 0x11", "bad number of frames")
	check("line 0x10 0x11"+strings.Repeat(" 1:1:1", MaxInlined+1), "bad number of frames")
	check("line 0xf 0x11 1:1:1", "bad range")
	check("line 0x10 0x13 1:1:1", "bad range")
	check("line 0x10 0x11 1:-1:1", "bad line")
	check("line 0x10 0x11 1:1:2", "unknown name")
	check("target 0x10 2", "bad target")
	check("target 10 1", "bad target")
	check("name 2 "+strings.Repeat("f", longestLine), "the line is too long")

	table, err := Read(strings.NewReader("at 7 0x1\nfunction a amd64 0x10 f\n"), "code")
	require.NoError(t, err)
	n, first := table.BadLines()
	assert.Equal(t, 2, n)
	assert.ErrorContains(t, first, "code:1: it is not in a function")
	assert.Empty(t, table.Functions)

	broken := errors.New("broken")
	table, err = Read(io.MultiReader(strings.NewReader("function a amd64 0x10 f\ncode 90\n"), iotest.ErrReader(broken)),
		"code")
	assert.ErrorIs(t, err, broken)
	assert.Len(t, table.Functions, 1)
}

func FuzzRead(f *testing.F) {
	f.Add(textOf(f, tableOf(f, sample()...)))
	f.Add("name 1 \\000\\777 \\\nfunction - amd64 0xffffffffffffffff\nat -1 0xffffffffffffffff\ncode ff\nline 0x0 0x1 1:1:1\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Read(strings.NewReader(text), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range table.Functions {
			at := f.Lo
			for _, r := range f.Rows {
				if r.Lo >= r.Hi || r.Lo < at || r.Hi > f.Hi() || len(r.Frames) == 0 || len(r.Frames) > MaxInlined {
					t.Fatalf("function %d: row %+v", i, r)
				}
				at = r.Hi
			}
			for _, p := range f.Places {
				if n, addr, ok := table.Find(p.PID, p.Lo); ok && (addr < table.Functions[n].Lo || addr >= table.Functions[n].Hi()) {
					t.Fatalf("%#x is outside of function %d", addr, n)
				}
			}
		}
		written := textOf(t, table)
		back, err := Read(strings.NewReader(written), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		if n, first := back.BadLines(); n > 0 {
			t.Fatal(first)
		}
		assert.Equal(t, written, textOf(t, back))
	})
}
