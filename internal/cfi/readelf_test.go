package cfi

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/native"
)

// open returns the table of a file.
func open(tb testing.TB, path string) *Table {
	tb.Helper()
	file, err := os.Open(path)
	require.NoError(tb, err)
	defer file.Close()
	f, err := native.NewELF(file)
	require.NoError(tb, err, path)
	t, err := New(f)
	require.NoError(tb, err, path)
	return t
}

// libc returns the paths of the C libraries of this machine, including those for cross compilers.
func libc(tb testing.TB) []string {
	tb.Helper()
	var found []string
	for _, pattern := range []string{"/usr/lib/*-linux-gnu/libc.so.6", "/usr/*-linux-gnu/lib/libc.so.6"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(tb, err)
		found = append(found, paths...)
	}
	if len(found) == 0 {
		tb.Skip("no libc.so.6 here: this is not a Linux with glibc")
	}
	return found
}

// libjvm returns the paths of the libjvm.so of this machine's JDKs.
func libjvm(tb testing.TB) (paths []string) {
	tb.Helper()
	for _, j := range gasmtest.NeedJDKs(tb, func(j gasmtest.JDK) bool {
		_, err := os.Stat(j.LibJVM())
		return err == nil
	}) {
		paths = append(paths, j.LibJVM())
	}
	return paths
}

var file = flag.String("file", "", "another ELF file for TestReadelf, which may be for another instruction set")

// TestReadelf compares every row of the C library with readelf's.
func TestReadelf(t *testing.T) {
	t.Parallel()
	paths := libc(t)
	if *file != "" {
		paths = append(paths, *file)
	}
	for _, path := range paths {
		compareWithReadelf(t, path, 1)
	}
}

// TestReadelfLibjvm compares the rows of some functions of libjvm.so with readelf's, and with -long, the rows of all
// functions.
func TestReadelfLibjvm(t *testing.T) {
	t.Parallel()
	each := 16
	if gasmtest.Long() {
		each = 1
	}
	for _, path := range libjvm(t) {
		compareWithReadelf(t, path, each)
	}
}

// A readelfFunction is what `readelf --debug-dump=frames-interp` says about a function:
//
//	0000006c 0000000000000020 00000070 FDE cie=00000000 pc=00000000000270e0..0000000000027143
//	   LOC           CFA      rbx   ra
//	00000000000270e0 rsp+8    u     c-8
//	00000000000270e1 rsp+16   c-16  c-8
type readelfFunction struct {
	lo, hi  uint64
	skipped bool // its rows were not read, because that takes time
	columns []string
	rows    []readelfRow
}

type readelfRow struct {
	loc   uint64
	cells []string
}

// compareWithReadelf checks that a table has all functions of a file, and that the rows of each nth function are the
// same as readelf's.
func compareWithReadelf(t *testing.T, path string, each int) {
	t.Helper()
	table := open(t, path)
	require.NoError(t, table.Damage())
	functions, compared, rows := 0, 0, 0
	readelf(t, path, each, func(f *readelfFunction) {
		if f.lo == 0 {
			return // the linker has left the function out
		}
		if found, ok := table.find(f.lo); !ok || found.lo != f.lo || found.lo+uint64(found.size) != f.hi {
			t.Fatalf("%s: %#x: the function is missing", path, f.lo)
		}
		functions++
		if !f.skipped {
			compared, rows = compared+1, rows+len(f.rows)
			compareRows(t, table, f)
		}
	})
	assert.Equal(t, functions, table.Len(), path)
	assert.Positive(t, compared, path)
	t.Logf("%s: %d functions; compared %d with %d rows", path, functions, compared, rows)
}

// readelf calls the function see for each function of a file. It reads the rows of each nth function only.
func readelf(t *testing.T, path string, each int, see func(*readelfFunction)) {
	t.Helper()
	tool := gasmtest.NeedTool(t, "readelf", "scripts/setup.sh test installs it")
	cmd := exec.Command(tool, "--wide", "--debug-dump=frames-interp,no-follow-links", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	cies := map[string]*readelfFunction{}
	current, inherited := &readelfFunction{}, false
	seen, isTable := 0, false
	ended := func() {
		if current.hi != 0 {
			see(current)
		}
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Bytes(); current.skipped && len(line) > 8 && line[8] != ' ' {
			continue // a row: other lines begin with 8 digits, or with a blank
		}
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case fields[0] == "Contents": // "Contents of the .eh_frame_hdr section:", which readelf 2.43 and newer print
			isTable = fields[3] == ".eh_frame_hdr"
		case isTable || fields[1] == "ZERO":
		case fields[0] == "LOC":
			current.columns = fields[1:]
		case len(fields) > 3 && fields[3] == "CIE":
			ended()
			current, inherited = &readelfFunction{}, false
			cies[fields[0]] = current
		case len(fields) > 3 && fields[3] == "FDE":
			ended()
			info := cies[strings.TrimPrefix(fields[4], "cie=")]
			require.NotNil(t, info, lines.Text())
			lo, hi, _ := strings.Cut(strings.TrimPrefix(fields[5], "pc="), "..")
			current = &readelfFunction{lo: hex(t, lo), hi: hex(t, hi), columns: info.columns}
			for _, row := range info.rows { // a function without rows of its own has the rows of its CIE
				current.rows = append(current.rows, readelfRow{current.lo, row.cells})
			}
			inherited = true
			seen++
			current.skipped = seen%each != 0
		default:
			// The cell of a value that is in another register is "r1 (rdx)".
			cells := slices.DeleteFunc(fields[1:], func(word string) bool { return word[0] == '(' })
			if inherited {
				current.rows, inherited = nil, false
			}
			current.rows = append(current.rows, readelfRow{hex(t, fields[0]), cells})
		}
	}
	ended()
	require.NoError(t, cmd.Wait())
}

func hex(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 16, 64)
	require.NoError(t, err)
	return n
}

// compareRows compares the rows of a function at the first and at the last address of each.
func compareRows(t *testing.T, table *Table, f *readelfFunction) {
	t.Helper()
	for i, want := range f.rows {
		next := f.hi
		if i+1 < len(f.rows) {
			next = f.rows[i+1].loc
		}
		if next == want.loc {
			continue // the next row is for the same address, and replaces this one
		}
		for _, pc := range []uint64{want.loc, next - 1} {
			found, _ := table.find(pc)
			table.spare = maxCost
			r, err := table.compute(found, pc)
			if err != nil || found.lo != f.lo {
				t.Fatalf("%#x: %v, in the function at %#x, want %#x", pc, err, found.lo, f.lo)
			}
			if got, cells := spell(table, r, f.columns), general(f.columns, want.cells); !slices.Equal(got, cells) {
				t.Fatalf("%#x: got %v, want %v (%v)", pc, got, cells, f.columns)
			}
		}
	}
}

// vector reports whether a column is for a floating-point register of aarch64, v0 to v31. They have no rules here.
func vector(column string) bool { return column[0] == 'v' }

// general returns the cells of the columns that are not for floating-point registers.
func general(columns, cells []string) (some []string) {
	for i, cell := range cells {
		if !vector(columns[i]) {
			some = append(some, cell)
		}
	}
	return some
}

// spell writes the columns of a row as readelf does. Registers that have a rule but no column are appended.
func spell(table *Table, r *row, columns []string) []string {
	rules := map[string]rule{}
	if r.returnAddress.kind != unspecified {
		rules["ra"] = r.returnAddress
	}
	for _, u := range r.registers {
		rules[spellRegister(table, int(u.column))] = u
	}
	var cells []string
	for _, name := range columns {
		switch {
		case name == "CFA":
			cells = append(cells, spellCFA(table, r.cfa))
		case !vector(name):
			cells = append(cells, spellRule(table, rules[name]))
			delete(rules, name)
		}
	}
	for name := range rules {
		cells = append(cells, "and "+name)
	}
	return cells
}

func spellCFA(table *Table, u rule) string {
	switch u.kind {
	case valueExpression:
		return "exp"
	case valueOffset:
		return fmt.Sprintf("%s%+d", spellRegister(table, int(u.column)), u.value)
	}
	return "?"
}

func spellRule(table *Table, u rule) string {
	switch u.kind {
	case unspecified, undefined:
		return "u"
	case sameValue:
		return "s"
	case offset:
		return fmt.Sprintf("c%+d", u.value)
	case valueOffset:
		return fmt.Sprintf("v%+d", u.value)
	case inRegister:
		return fmt.Sprintf("r%d", u.value)
	case expression:
		return "exp"
	}
	return "vexp"
}

func spellRegister(table *Table, number int) string {
	if table.arch.sp == 31 {
		return strings.Replace(fmt.Sprintf("x%d", number), "x31", "sp", 1)
	}
	return strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip")[number]
}
