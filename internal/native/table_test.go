package native

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func textOf(t testing.TB, table *Table) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, table.Write(&text))
	return text.String()
}

func TestTableRoundTrip(t *testing.T) {
	ranges := []Range{
		{7, 0x1000, 0x2000, "libjvm.so", "void f<A, B>(void (*)(int)) const"},
		{7, 0x2000, 0x2001, "libjvm.so", ""},
		{7, 0x2001, 0x2002, "my lib\n.so", " a\\b\tc\r\nd\x7f "},
		{7, ^uint64(0) - 1, ^uint64(0), "", "no module"},
		{8, 0, 1, "-", "#"},
		{8, 1, 2, `a\040b`, `\040`},
		{9, 0x1000, 0x2000, "ü.so", "größe"},
	}
	require.NotEmpty(t, ranges)
	table := newTable(ranges)
	text := textOf(t, table)
	assert.Equal(t, tableHeader+`7 0x1000 0x2000 libjvm.so void f<A, B>(void (*)(int)) const
7 0x2000 0x2001 libjvm.so
7 0x2001 0x2002 my\040lib\012.so  a\134b\011c\015\012d\177 `+`
7 0xfffffffffffffffe 0xffffffffffffffff - no module
8 0x0 0x1 \055 #
8 0x1 0x2 a\134040b \134040
9 0x1000 0x2000 ü.so größe
`, text)
	back, err := ReadTable(strings.NewReader(text), "table")
	require.NoError(t, err)
	n, first := back.BadLines()
	assert.Zero(t, n)
	assert.NoError(t, first)
	assert.Equal(t, ranges, back.ranges)
	assert.Equal(t, len(ranges), back.Len())
	for _, x := range ranges {
		for _, pc := range []uint64{x.Lo, x.Hi - 1} {
			got, ok := back.Resolve(x.PID, pc)
			assert.True(t, ok)
			assert.Equal(t, x, got)
		}
	}
	for _, pc := range []uint64{0xfff, 0x2002} {
		_, ok := back.Resolve(7, pc)
		assert.False(t, ok, "%#x", pc)
	}
	_, ok := back.Resolve(10, 0x1000)
	assert.False(t, ok)
}

func TestReadTableOverlaps(t *testing.T) {
	table, err := ReadTable(strings.NewReader("7 0x0 0x10 a f\n8 0x0 0x10 a g\n7 0x4 0x8 a h\r\n7 0x7 0x9 b\n"),
		"table")
	require.NoError(t, err)
	assert.Equal(t, tableHeader+"7 0x0 0x4 a f\n7 0x4 0x7 a h\n7 0x7 0x9 b\n7 0x9 0x10 a f\n8 0x0 0x10 a g\n",
		textOf(t, table))
}

func TestReadTableBadLines(t *testing.T) {
	check := func(line, want string) {
		t.Helper()
		table, err := ReadTable(strings.NewReader("# c\n7 0x0 0x1 a f\n"+line+"\n\n7 0x1 0x2 a g"), "table")
		require.NoError(t, err)
		n, first := table.BadLines()
		assert.Equal(t, 1, n)
		assert.ErrorContains(t, first, "table:3: "+want)
		assert.Equal(t, 2, table.Len())
	}
	check("x 0x2 0x3 a f", "bad process id")
	check("7 0x2 0x2 a f", "bad range")
	check("7 2 0x3 a f", "bad range")
	check("7 0x2", "bad range")
	check("7 0x2 0x3", "missing module")
	check("7 0x2 0x3  f", "missing module")
	check("7 0x2 0x3 a "+strings.Repeat("f", longestLine), "the line is too long")

	broken := errors.New("broken")
	table, err := ReadTable(io.MultiReader(strings.NewReader("7 0x0 0x1 a f\n"), iotest.ErrReader(broken)), "table")
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, 1, table.Len())
}

func FuzzTable(f *testing.F) {
	f.Add("7 0x1000 0x2000 libjvm.so void f<A, B>(void (*)(int)) const\n7 0x2000 0x2001 libjvm.so\n")
	f.Add("7 0x0 0x10 a f\n8 0x0 0x10 - g\n7 0x4 0x8 \\055 \\040h\r\n7 0x7 0x9 b\n")
	f.Add(tableHeader + "7 0x0 0xffffffffffffffff a f\nbad\n-1 0x1 0x2 \\000\\777 \\")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ReadTable(strings.NewReader(text), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range table.ranges {
			if x.Lo >= x.Hi || i > 0 && table.ranges[i-1].PID == x.PID && table.ranges[i-1].Hi > x.Lo {
				t.Fatalf("range %d: %+v", i, x)
			}
		}
		written := textOf(t, table)
		back, err := ReadTable(strings.NewReader(written), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		// Escaping makes names longer, so a line that could be read may become too long.
		if n, first := back.BadLines(); n > 0 && !strings.Contains(first.Error(), "too long") {
			t.Fatal(first)
		} else if n == 0 {
			assert.Equal(t, table.ranges, back.ranges)
			assert.Equal(t, written, textOf(t, back))
		}
	})
}
