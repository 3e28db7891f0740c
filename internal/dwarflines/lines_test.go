package dwarflines

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/nativecode"
)

// Comparisons with addr2line are in package native, because they need its symbols.

const program = `static inline __attribute__((always_inline)) int mix(int x) { return x ^ x >> 7; }
__attribute__((noinline)) int work(int x)
{
	return mix(x) * 3;
}
`

// sections are the sections of the debug information of the source text "program", and the address range of its
// function "work".
type sections struct {
	abbrev, info, line, ranges, str []byte
	work                            Range
}

func compile(tb testing.TB) sections {
	tb.Helper()
	dir := tb.TempDir()
	source, object := filepath.Join(dir, "work.c"), filepath.Join(dir, "work.so")
	require.NoError(tb, os.WriteFile(source, []byte(program), 0o600))
	gcc := gasmtest.NeedTool(tb, "gcc", "scripts/setup.sh test installs it")
	out, err := exec.Command(gcc, "-gdwarf-4", "-O2", "-shared", "-fPIC", "-o", object, source).CombinedOutput()
	require.NoError(tb, err, "%s", out)
	f, err := elf.Open(object)
	require.NoError(tb, err)
	defer f.Close()
	data := func(name string) []byte {
		b, err := f.Section(name).Data()
		require.NoError(tb, err)
		return b
	}
	s := sections{abbrev: data(".debug_abbrev"), info: data(".debug_info"), line: data(".debug_line"),
		ranges: data(".debug_ranges"), str: data(".debug_str")}
	symbols, err := f.Symbols()
	require.NoError(tb, err)
	for _, symbol := range symbols {
		if symbol.Name == "work" {
			s.work = Range{symbol.Value, symbol.Value + symbol.Size}
		}
	}
	return s
}

func (s sections) of(functions []Range, stop func() error) ([][]nativecode.Row, error) {
	d, err := dwarf.New(s.abbrev, nil, nil, s.info, s.line, nil, s.ranges, s.str)
	if err != nil {
		return nil, err
	}
	return Of(d, s.info, functions, func(mangled string) string { return mangled }, stop)
}

func never() error { return nil }

func TestOf(t *testing.T) {
	s := compile(t)
	rows, err := s.of([]Range{{0, 1}, s.work, {s.work.Hi + 1000, s.work.Hi + 1001}}, never)
	require.NoError(t, err)
	require.Len(t, rows, 3)
	assert.Nil(t, rows[0])
	assert.Nil(t, rows[2])
	require.NotEmpty(t, rows[1])
	assert.Equal(t, s.work.Lo, rows[1][0].Lo)
	assert.Equal(t, s.work.Hi, rows[1][len(rows[1])-1].Hi)
	chains := map[string]bool{}
	for i, r := range rows[1] {
		if i > 0 {
			assert.Equal(t, rows[1][i-1].Hi, r.Lo)
		}
		chain := ""
		for _, f := range r.Frames {
			assert.Equal(t, "work.c", filepath.Base(f.File))
			chain += f.Function + " "
		}
		chains[chain] = true
	}
	assert.Equal(t, map[string]bool{"work ": true, "mix work ": true}, chains)

	stopped := errors.New("stopped")
	_, err = s.of([]Range{s.work}, func() error { return stopped })
	assert.ErrorIs(t, err, stopped)
}

// TestOverlapping: if more functions contain an address than can be nested in one another, nothing is reported for
// their function.
func TestOverlapping(t *testing.T) {
	for n, want := range map[int]int{mostDepth: 2, mostDepth + 1: 0} {
		w := function{Range: Range{0x100, 0x200}, lines: []line{{Range{0x100, 0x180}, "a.c", 1},
			{Range{0x180, 0x200}, "a.c", 2}}}
		for i := range n {
			w.inlined = append(w.inlined, inlined{Range: w.Range, depth: i, name: "f"})
		}
		left := mostFrames
		assert.Len(t, w.rows(&left), want)
	}
}

// TestDeep: each entry is nested in the one before, down to the end of the section.
func TestDeep(t *testing.T) {
	// code, tag, children; addresses
	abbrev := []byte{1, byte(dwarf.TagCompileUnit), 1, byte(dwarf.AttrLowpc), 1, byte(dwarf.AttrHighpc), 1, 0, 0,
		2, byte(dwarf.TagStructType), 1, 0, 0, 3, byte(dwarf.TagNamespace), 1, 0, 0, 0}
	for nested, want := range map[byte]string{2: "", 3: "nested too deep"} {
		const depth = 1 << 20
		// size, version, offset of the abbreviations, size of an address; the unit
		info := []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1,
			0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0}
		for range depth {
			info = append(info, nested)
		}
		size := len(info) - 4
		info[0], info[1], info[2], info[3] = byte(size), byte(size>>8), byte(size>>16), byte(size>>24)
		_, err := sections{abbrev: abbrev, info: info}.of([]Range{{1, 2}}, never)
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	s := compile(f)
	f.Add(s.abbrev, s.info, s.line, s.ranges, s.str, s.work.Lo, s.work.Hi)
	f.Add([]byte{1, 17, 0, 0, 0}, []byte{8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, []byte{}, []byte{}, []byte{}, uint64(0),
		uint64(1))
	f.Fuzz(func(t *testing.T, abbrev, info, line, ranges, str []byte, lo, hi uint64) {
		if lo >= hi {
			return
		}
		steps := 0
		rows, _ := sections{abbrev: abbrev, info: info, line: line, ranges: ranges, str: str}.of([]Range{{lo, hi}},
			func() error {
				if steps++; steps > 1<<20 {
					return errors.New("it takes too long")
				}
				return nil
			})
		at := lo
		for _, all := range rows {
			for _, r := range all {
				if r.Lo < at || r.Lo >= r.Hi || r.Hi > hi || len(r.Frames) == 0 || len(r.Frames) > nativecode.MaxInlined {
					t.Fatalf("row %+v after %#x, in [%#x, %#x)", r, at, lo, hi)
				}
				at = r.Hi
			}
		}
	})
}
