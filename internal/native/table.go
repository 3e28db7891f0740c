package native

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/lines"
)

// tableHeader is the first line of a table's text. ReadTable ignores lines that start with #.
const tableHeader = "# Native functions of processes: pid, start, end (not included), module, function. Nothing after the module: no function is known.\n"

// A Table has the Ranges of all PCs that a [Resolver] has resolved. It does not change, so it is safe for concurrent
// use.
type Table struct {
	ranges   []Range // sorted by process and address, without overlaps
	bad      int     // number of skipped lines
	firstBad error
}

// newTable returns a table of the given ranges. If ranges of the same process overlap, the later one in the slice wins.
func newTable(ranges []Range) *Table {
	spans := map[int][]span{}
	for i, x := range ranges {
		spans[x.PID] = append(spans[x.PID], span{x.Lo, x.Hi, int32(i)})
	}
	t := &Table{ranges: make([]Range, 0, len(ranges))}
	for _, pid := range slices.Sorted(maps.Keys(spans)) {
		for _, s := range flatten(spans[pid]) {
			x := ranges[s.id]
			x.Lo, x.Hi = s.lo, s.hi
			t.ranges = append(t.ranges, x)
		}
	}
	return t
}

// Resolve returns the Range of a PC in a process. It returns false if the Table has no Range with this PC.
func (t *Table) Resolve(pid int, pc uint64) (Range, bool) {
	i, ok := slices.BinarySearchFunc(t.ranges, pc, func(x Range, pc uint64) int {
		switch {
		case x.PID != pid:
			return cmp.Compare(x.PID, pid)
		case x.Hi <= pc:
			return -1
		case x.Lo > pc:
			return 1
		}
		return 0
	})
	if !ok {
		return Range{}, false
	}
	return t.ranges[i], true
}

// Len returns the number of ranges.
func (t *Table) Len() int { return len(t.ranges) }

// BadLines returns how many lines [ReadTable] could not parse, and a [*SyntaxError] for the first of them. If it could
// parse all lines, BadLines returns 0 and nil.
func (t *Table) BadLines() (int, error) { return t.bad, t.firstBad }

// Write writes the table as text for [ReadTable]. Each Range is a line:
//
//	24997 0x7f27b3c81e50 0x7f27b3c81fb0 libjvm.so _Copy_arrayof_conjoint_bytes
//
// The line of a gap has no function. A function's name may contain blanks. In a module's name, blanks are written in
// octal: "my\040lib.so". In both names, backslashes and control characters are written in octal too. "-" stands for an
// empty module name. Write returns the error of w.
func (t *Table) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString(tableHeader)
	var line []byte
	for _, x := range t.ranges {
		line = strconv.AppendInt(line[:0], int64(x.PID), 10)
		line = strconv.AppendUint(append(line, " 0x"...), x.Lo, 16)
		line = strconv.AppendUint(append(line, " 0x"...), x.Hi, 16)
		line = append(line, ' ')
		switch x.Module {
		case "":
			line = append(line, '-')
		case "-":
			line = append(line, `\055`...)
		default:
			line = appendEscaped(line, x.Module, ' ')
		}
		if x.Symbol != "" {
			line = appendEscaped(append(line, ' '), x.Symbol, ' '-1)
		}
		out.Write(append(line, '\n'))
	}
	return out.Flush()
}

// appendEscaped appends a name to a line. It escapes backslashes, DEL and all bytes from 0 to highest. An escaped byte
// is a backslash and three octal digits.
func appendEscaped(to []byte, name string, highest byte) []byte {
	for _, c := range []byte(name) {
		if c <= highest || c == '\\' || c == 0x7f {
			to = append(to, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		} else {
			to = append(to, c)
		}
	}
	return to
}

// unescape reverses appendEscaped. A backslash that is not followed by an octal number stays as it is.
func unescape(name string) string {
	if strings.IndexByte(name, '\\') < 0 {
		return name
	}
	var out []byte
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' && i+3 < len(name) {
			if c, err := strconv.ParseUint(name[i+1:i+4], 8, 8); err == nil {
				out = append(out, byte(c))
				i += 3
				continue
			}
		}
		out = append(out, name[i])
	}
	return string(out)
}

// longestLine limits the length of a line, in bytes. A longer line counts as bad.
const longestLine = 1 << 20

// maxRanges is the maximum number of ranges in a table. It is enough for 1000 processes with 1000 functions each.
// Further lines count as bad.
const maxRanges = 1 << 20

// ReadTable reads what [Table.Write] wrote. It skips bad lines and counts them. If ranges overlap, the later line wins.
// name is used in messages only. If r returns an error, ReadTable returns a table of the lines that it has read so far,
// and an error that wraps the error of r.
func ReadTable(r io.Reader, name string) (*Table, error) {
	var (
		ranges   []Range
		bad      int
		firstBad error
		number   int
		names    = map[string]string{} // see intern
	)
	lines := bufio.NewReaderSize(r, longestLine)
	var err error
	for err == nil {
		var line []byte
		line, err = lines.ReadSlice('\n')
		number++
		msg := ""
		if errors.Is(err, bufio.ErrBufferFull) {
			msg = "the line is too long"
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n')
			}
		} else if text := strings.TrimRight(string(line), "\r\n"); text != "" && text[0] != '#' {
			var x Range
			if x, msg = parseRange(text, bad == 0); msg == "" && len(ranges) == maxRanges {
				msg = "it is one function more than any table has"
			}
			if msg == "" {
				x.Module, x.Symbol = intern(names, x.Module), intern(names, x.Symbol)
				ranges = append(ranges, x)
			}
		}
		if msg != "" {
			if bad == 0 {
				firstBad = &SyntaxError{File: name, Line: number, Msg: msg}
			}
			bad++
		}
	}
	t := newTable(ranges)
	t.bad, t.firstBad = bad, firstBad
	if err != io.EOF {
		return t, fmt.Errorf("reading %s at line %d: %w", name, number, err)
	}
	return t, nil
}

// intern returns a copy of a name, so that the name does not keep the whole line in memory. Equal names share one copy.
func intern(names map[string]string, name string) string {
	known, ok := names[name]
	if !ok {
		known = strings.Clone(name)
		names[known] = known
	}
	return known
}

// parseRange parses a line of a table. If something is wrong with the line, msg says what. Otherwise it is "". Making a
// detailed message takes longer than parsing, and only the first message is shown. So if explain is false and a number
// is bad, msg is just "bad line".
func parseRange(line string, explain bool) (x Range, msg string) {
	pid, rest, _ := strings.Cut(line, " ")
	lo, rest, _ := strings.Cut(rest, " ")
	hi, rest, _ := strings.Cut(rest, " ")
	module, symbol, _ := strings.Cut(rest, " ")
	var err1, err2, err3 error
	x.PID, err1 = strconv.Atoi(pid)
	x.Lo, err2 = parseHex(lo)
	x.Hi, err3 = parseHex(hi)
	switch {
	case !explain && (err1 != nil || err2 != nil || err3 != nil):
		return Range{}, "bad line"
	case err1 != nil:
		return Range{}, "bad process id " + lines.Quote(pid)
	case err2 != nil || err3 != nil || x.Lo >= x.Hi:
		return Range{}, "bad range " + lines.Quote(lo) + " " + lines.Quote(hi)
	case module == "":
		return Range{}, "missing module"
	}
	if module != "-" {
		x.Module = unescape(module)
	}
	x.Symbol = unescape(symbol)
	return x, ""
}

func parseHex(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(digits, 16, 64)
}
