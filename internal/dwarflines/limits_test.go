package dwarflines

import (
	"debug/dwarf"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFrameLimit checks that a function whose rows would have too many frames gets no rows, and leaves room for the
// next function.
func TestFrameLimit(t *testing.T) {
	of := func(lines, depth int) *function {
		w := &function{Range: Range{0, uint64(lines)}}
		for i := range lines {
			w.lines = append(w.lines, line{Range: Range{uint64(i), uint64(i) + 1}, line: i + 1})
		}
		for i := range depth {
			w.inlined = append(w.inlined, inlined{Range: w.Range, depth: i})
		}
		return w
	}
	left := 1000
	assert.Len(t, of(100, 5).rows(&left), 100)
	assert.Equal(t, 500, left)
	assert.Nil(t, of(100, 6).rows(&left))
	assert.Equal(t, 500, left)
	assert.Len(t, of(100, 5).rows(&left), 100)
	assert.Nil(t, of(1, 1).rows(&left))
}

// TestLineNumbers checks that a number that can't be a line number means an unknown line.
func TestLineNumbers(t *testing.T) {
	f := finder{wanted: []function{{Range: Range{0, 10}}}}
	numbers := []int{7, -1, 1 << 40, 1<<31 - 1}
	for _, n := range numbers {
		f.line(&dwarf.LineEntry{Line: n}, 10)
	}
	var got []int
	for _, l := range f.wanted[0].lines {
		got = append(got, l.line)
	}
	assert.Equal(t, []int{7, 0, 0, 1<<31 - 1}, got)
}

// TestNameLimits checks that each name is limited in length, and so are all names together.
func TestNameLimits(t *testing.T) {
	f := finder{wanted: []function{{Range: Range{0, 10}}}, demangle: func(name string) string { return name },
		names: map[dwarf.Offset]string{}}
	add := func(attr dwarf.Attr, name string) string {
		f.function(&dwarf.Entry{Field: []dwarf.Field{{Attr: attr, Val: name}}}, [][2]uint64{{0, 10}}, 0)
		all := f.wanted[0].inlined
		require.NotEmpty(t, all)
		return all[len(all)-1].name
	}
	long := strings.Repeat("x", longestName)
	for _, attr := range []dwarf.Attr{dwarf.AttrLinkageName, dwarf.AttrName} {
		assert.Equal(t, "work", add(attr, "work"))
		assert.Equal(t, long, add(attr, long))
		assert.Empty(t, add(attr, long+"x"))
	}
	f.named = mostNamed
	assert.Empty(t, add(dwarf.AttrName, "work"))
}

// TestPath checks that relative paths begin in the unit's folder, and that the paths of all files together are limited.
func TestPath(t *testing.T) {
	for _, c := range []struct{ dir, name, want string }{
		{"/build", "a/b.c", "/build/a/b.c"},
		{"/build", "/usr/b.c", "/usr/b.c"},
		{"/build", "/build/b.c", "/build/b.c"},
		{"src", "src/b.c", "src/b.c"},
		{"src", "srcs/b.c", "src/srcs/b.c"},
		{"", "b.c", "b.c"},
	} {
		f := finder{dir: c.dir, paths: map[*dwarf.LineFile]string{}}
		assert.Equal(t, c.want, f.path(&dwarf.LineFile{Name: c.name}))
	}
	f := finder{dir: "/build", paths: map[*dwarf.LineFile]string{}, named: mostNamed - 1}
	file := &dwarf.LineFile{Name: "b.c"}
	for range 2 {
		assert.Equal(t, "/build/b.c", f.path(file))
		assert.Equal(t, mostNamed-1+len("/build/b.c"), f.named, "each path is put together once")
	}
	assert.Empty(t, f.path(&dwarf.LineFile{Name: "c.c"}))
}
