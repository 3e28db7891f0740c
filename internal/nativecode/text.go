package nativecode

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/lines"
)

const (
	header = "# The code of native functions that have samples; the package internal/nativecode describes these lines.\n"
	// bytesPerLine is the number of bytes of code in a line.
	bytesPerLine = 64
	// longestLine limits the length of a line, in bytes. A longer line counts as bad. The longest lines are those with
	// names, whose bytes may be escaped.
	longestLine = 6 * longestName
)

// Write writes the table as text for [Read]. It returns the error of w.
func (t *Table) Write(w io.Writer) error {
	out := writer{Writer: bufio.NewWriter(w), names: map[string]int{}}
	out.WriteString(header)
	for i := range t.Functions {
		out.function(&t.Functions[i])
	}
	return out.Flush()
}

// A writer writes a table. Its map names has the number of each name that was already written.
type writer struct {
	*bufio.Writer
	names map[string]int
	named int // bytes of these names
}

func (w *writer) function(f *Function) {
	for i := range f.Rows {
		for _, frame := range f.Rows[i].Frames {
			w.name(frame.File)
			w.name(frame.Function)
		}
	}
	targets := slices.Sorted(maps.Keys(f.Targets))
	for _, at := range targets {
		w.name(f.Targets[at])
	}
	fmt.Fprintf(w, "function %s %s %#x", escape(f.Module, ' '), f.Arch, f.Lo)
	if f.Symbol != "" && len(f.Symbol) <= longestName {
		fmt.Fprintf(w, " %s", escape(f.Symbol, 0))
	}
	w.WriteByte('\n')
	for _, p := range f.Places {
		fmt.Fprintf(w, "at %d %#x\n", p.PID, p.Lo)
	}
	for code := f.Code; len(code) > 0; {
		n := min(len(code), bytesPerLine)
		fmt.Fprintf(w, "code %x\n", code[:n])
		code = code[n:]
	}
	for i := range f.Rows {
		r := &f.Rows[i]
		fmt.Fprintf(w, "line %#x %#x", r.Lo, r.Hi)
		for _, frame := range r.Frames {
			fmt.Fprintf(w, " %d:%d:%d", w.names[frame.File], frame.Line, w.names[frame.Function])
		}
		w.WriteByte('\n')
	}
	for _, at := range targets {
		if n := w.names[f.Targets[at]]; n > 0 {
			fmt.Fprintf(w, "target %#x %d\n", at, n)
		}
	}
}

// name writes a name, unless it is empty or was written before, or Read would reject it. A name that is not written
// counts as unknown.
func (w *writer) name(name string) {
	if name == "" || w.names[name] > 0 || len(name) > longestName || len(w.names) == maxNames ||
		w.named+len(name) > maxNamed {
		return
	}
	w.named += len(name)
	w.names[name] = len(w.names) + 1
	fmt.Fprintf(w, "name %d %s\n", w.names[name], escape(name, 0))
}

// escape replaces backslashes, control characters and one additional character (the parameter also) in a name. Each
// becomes a backslash and three octal digits.
func escape(name string, also byte) string {
	var out []byte
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ', c == 0x7f, c == '\\', c == also:
			out = append(out, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// unescape reverses escape. A backslash that is not followed by an octal number stays as it is.
func unescape(name string) string {
	if strings.IndexByte(name, '\\') < 0 {
		return strings.Clone(name)
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

// Read reads what [Table.Write] wrote. It skips bad lines and lines that exceed the limits of a Table, and counts them.
// name is used in messages only. If r returns an error, Read returns the functions that it has read so far, and an
// error that wraps the error of r.
func Read(r io.Reader, name string) (*Table, error) {
	p := parser{table: &Table{}, names: map[int]string{}, file: name}
	in := lines.NewReader(r, longestLine)
	for in.Scan() {
		p.line++
		switch text := string(in.Line()); {
		case in.TooLong():
			p.bad("the line is too long")
		case text == "" || text[0] == '#':
		default:
			if msg := p.take(text); msg != "" {
				p.bad(msg)
			}
		}
	}
	p.end()
	p.table.Index()
	if err := in.Err(); err != nil {
		return p.table, fmt.Errorf("reading %s at line %d: %w", name, p.line, err)
	}
	return p.table, nil
}

// A parser reads the text of a table.
type parser struct {
	table  *Table
	names  map[int]string
	named  int // bytes of all names
	file   string
	line   int
	open   Function // the function that is being read
	opened bool
	begun  int // its first line
	frames int // number of frames in the rows of the open function
}

func (p *parser) bad(msg string) {
	if p.table.bad == 0 {
		p.table.firstBad = &lines.SyntaxError{File: p.file, Line: p.line, Msg: msg}
	}
	p.table.bad++
}

// take reads a line. It returns what is wrong with it, or "".
func (p *parser) take(text string) string {
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "name":
		return p.name(rest)
	case "function":
		p.end()
		return p.function(rest)
	}
	if !p.opened {
		return "it is not in a function"
	}
	switch kind {
	case "at":
		return p.at(rest)
	case "code":
		return p.code(rest)
	case "line":
		return p.row(rest)
	case "target":
		return p.target(rest)
	}
	return "unknown kind of line " + lines.Quote(kind)
}

// name reads "1 /home/me/zip.c".
func (p *parser) name(rest string) string {
	number, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || n < 1 || n > maxNames:
		return "bad number of a name " + lines.Quote(number)
	case len(text) > 4*longestName:
		return "the name is too long"
	}
	text = unescape(text)
	if text == "" || len(text) > longestName {
		return "the name is empty, or too long"
	}
	if p.named += len(text); p.named > maxNamed {
		return "there are too many names"
	}
	p.names[n] = text
	return ""
}

// function reads "libzip.so amd64 0x2a40 crc32_z".
func (p *parser) function(rest string) string {
	module, rest, _ := strings.Cut(rest, " ")
	arch, rest, _ := strings.Cut(rest, " ")
	lo, symbol, _ := strings.Cut(rest, " ")
	addr, ok := parseHex(lo)
	switch {
	case module == "" || len(module) > longestName || len(symbol) > 4*longestName:
		return "bad name of a function or its module"
	case arch == "" || len(arch) > 32:
		return "bad name of an instruction set"
	case !ok:
		return "bad address " + lines.Quote(lo)
	}
	p.open = Function{Module: unescape(module), Arch: disasm.Arch(unescape(arch)), Lo: addr, Symbol: unescape(symbol)}
	p.opened, p.begun, p.frames = true, p.line, 0
	return ""
}

// at reads "24997 0x7f27b3c81a40".
func (p *parser) at(rest string) string {
	pid, lo, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(pid)
	addr, ok := parseHex(lo)
	switch {
	case err != nil || !ok:
		return "bad place " + lines.Quote(rest)
	case len(p.open.Places) == maxPlaces:
		return "there are too many places"
	}
	p.open.Places = append(p.open.Places, Place{n, addr})
	return ""
}

// code reads "f30f1efa4885f6".
func (p *parser) code(rest string) string {
	code, err := hex.DecodeString(rest)
	switch {
	case err != nil || len(code) == 0:
		return "bad bytes"
	case len(p.open.Code)+len(code) > MaxSize:
		return "the function has too many bytes"
	}
	p.open.Code = append(p.open.Code, code...)
	return ""
}

// row reads "0x2a40 0x2a4d 1:84:2 3:20:4".
func (p *parser) row(rest string) string {
	fields := strings.Fields(rest)
	if len(fields) < 3 || len(fields) > 2+MaxInlined {
		return "bad number of frames"
	}
	lo, ok1 := parseHex(fields[0])
	hi, ok2 := parseHex(fields[1])
	rows := p.open.Rows
	switch {
	case !ok1 || !ok2 || lo >= hi || lo < p.open.Lo || hi > p.open.Hi():
		return "bad range of a line"
	case len(rows) > 0 && lo < rows[len(rows)-1].Hi:
		return "the line overlaps the one before it"
	case len(rows) == MaxRows || p.frames+len(fields)-2 > MaxFrames:
		return "there are too many lines"
	}
	row := Row{Lo: lo, Hi: hi, Frames: make([]Frame, 0, len(fields)-2)}
	for _, field := range fields[2:] {
		frame, msg := p.frame(field)
		if msg != "" {
			return msg
		}
		row.Frames = append(row.Frames, frame)
	}
	p.frames += len(row.Frames)
	p.open.Rows = append(rows, row)
	return ""
}

// frame reads "1:84:2".
func (p *parser) frame(field string) (Frame, string) {
	file, rest, _ := strings.Cut(field, ":")
	line, function, _ := strings.Cut(rest, ":")
	number, err := strconv.ParseInt(line, 10, 32)
	if err != nil || number < 0 {
		return Frame{}, "bad line " + lines.Quote(line)
	}
	f := Frame{Line: int(number)}
	for _, name := range []struct {
		to   *string
		text string
	}{{&f.File, file}, {&f.Function, function}} {
		if name.text == "0" {
			continue
		}
		n, err := strconv.Atoi(name.text)
		known, ok := p.names[n]
		if err != nil || !ok {
			return Frame{}, "unknown name " + lines.Quote(name.text)
		}
		*name.to = known
	}
	return f, ""
}

// target reads "0x2980 2".
func (p *parser) target(rest string) string {
	addr, number, _ := strings.Cut(rest, " ")
	at, ok := parseHex(addr)
	n, err := strconv.Atoi(number)
	name := p.names[n]
	switch {
	case !ok || err != nil || name == "":
		return "bad target " + lines.Quote(rest)
	case len(p.open.Targets) == MaxTargets:
		return "there are too many targets"
	case p.open.Targets == nil:
		p.open.Targets = map[uint64]string{}
	}
	p.open.Targets[at] = name
	return ""
}

// end adds the function that was being read to the table.
func (p *parser) end() {
	if p.opened && !p.table.Add(p.open) {
		p.bad(fmt.Sprintf("the function that begins in line %d has no code, or there is no room for it", p.begun))
	}
	p.open, p.opened = Function{}, false
}

func parseHex(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil
}
