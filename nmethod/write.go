package nmethod

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// entryBCI is the bci of what a method does before its bytecode
// (SynchronizationEntryBCI).
const entryBCI = -1

const rowBytes = 32

// maxFrames bounds a chain of inlined methods; HotSpot's MaxInlineLevel is 15.
const maxFrames = 500

// AppendTo appends the method's code as text, in the form that HotSpot prints it
// without hsdis. An error is of its debug info; then the text has less of it.
func (c *Code) AppendTo(text []byte) ([]byte, error) {
	text = c.appendHead(text)
	text = append(text, "[MachCode]\n"+printassembly.ExactMark+"\n"...)
	w := rowWriter{code: c, text: text}
	eachPCDesc(c.pcDescs, len(c.Bytes), func(d pcDesc) bool {
		w.rowsTo(d.pc - 1)
		return w.comment(d)
	})
	w.rowsTo(len(c.Bytes) + rowBytes)
	return append(w.text, "[/MachCode]\n"...), w.err
}

func (c *Code) appendHead(text []byte) []byte {
	compiler, mark := c.Compiler, ' '
	switch {
	case c.Kind == "osr":
		mark = '%'
	case c.Compiler == "":
		compiler, mark = "n/a", 'n'
	}
	name := c.Name
	if c.Kind == "osr" {
		name += fmt.Sprintf(" @ %d", c.OSRBCI)
	}
	size := fmt.Sprintf("%d bytes", c.Installed.Bytes)
	if c.Compiler == "" {
		size = "native"
	}
	text = fmt.Appendf(text, "Compiled method (%s) %d %d %c %d %s (%s)\n", compiler, c.UptimeMillis, c.ID, mark, c.Level, escape(name), size)
	text = fmt.Appendf(text, " total in heap  [%#016x,%#016x] = %d\n", c.Address, c.Address+c.Size, c.Size)
	text = fmt.Appendf(text, " main code      [%#016x,%#016x] = %d\n", c.Lo, c.Stub, c.Stub-c.Lo)
	if c.Stub < c.Hi {
		text = fmt.Appendf(text, " stub code      [%#016x,%#016x] = %d\n", c.Stub, c.Hi, c.Hi-c.Stub)
	}
	return text
}

// A rowWriter writes rows of code with comments in front of them.
type rowWriter struct {
	code *Code
	text []byte
	next int // offset of the next row
	// frames is the text of the last chain of frames, without addresses, which
	// often is the next one's too.
	frames []byte
	scope  int
	err    error
}

// rowsTo writes the rows up to the one that holds the byte at an offset, without
// that one.
func (w *rowWriter) rowsTo(offset int) {
	size := len(w.code.Bytes)
	for w.next < size && w.next+rowBytes <= offset {
		end := min(w.next+rowBytes, size)
		for from := w.next; from < end; {
			from = w.row(from, end)
		}
		w.next = end
	}
}

// row writes a row that ends where a mark stands, or at an offset. It returns where
// it ended.
func (w *rowWriter) row(from, to int) int {
	for _, m := range w.code.marks() {
		switch {
		case m.offset == from:
			w.text = append(append(w.text, m.text...), '\n')
		case m.offset > from && m.offset < to:
			to = m.offset
		}
	}
	w.text = w.address(append(w.text, "  "...), from)
	for i, b := range w.code.Bytes[from:to] {
		switch {
		case i%4 == 0 && i > 0:
			w.text = append(w.text, " | "...)
		case i%2 == 0:
			w.text = append(w.text, ' ')
		}
		w.text = append(w.text, digits[b>>4], digits[b&15])
	}
	w.text = append(w.text, '\n')
	return to
}

const digits = "0123456789abcdef"

// address writes the address of an offset as 0x0000ffff0000ffff with a colon.
func (w *rowWriter) address(text []byte, offset int) []byte {
	at := w.code.Lo + uint64(offset)
	text = append(text, "0x"...)
	for shift := 60; shift >= 0; shift -= 4 {
		text = append(text, digits[at>>shift&15])
	}
	return append(text, ':')
}

// A mark is a name that stands in front of the instruction at an offset.
type mark struct {
	offset int
	text   string
}

// marks are those of the method; one that it has not is at -1.
func (c *Code) marks() [2]mark {
	verified, stub := -1, -1
	if c.Verified > 0 {
		verified = int(c.Verified - c.Lo)
	}
	if c.Stub < c.Hi {
		stub = int(c.Stub - c.Lo)
	}
	return [2]mark{{verified, "[Verified Entry Point]"}, {stub, "[Stub Code]"}}
}

// comment writes the frames of a PcDesc at the last byte of its instruction.
func (w *rowWriter) comment(d pcDesc) bool {
	if d.scope != w.scope || len(w.frames) == 0 {
		w.scope = d.scope
		if w.frames, w.err = w.code.appendFrames(w.frames[:0], d.scope); w.err != nil {
			return false
		}
	}
	if len(w.frames) == 0 {
		return true
	}
	w.text = w.address(append(w.text, "  "...), d.pc-1)
	w.text = append(w.text, ' ')
	w.text = append(w.text, w.frames...)
	return true
}

// appendFrames writes the bytecode and the frames of a scope, innermost first. The
// outermost must be of the method itself, or memory is not what it is taken for.
func (c *Code) appendFrames(text []byte, at int) ([]byte, error) {
	release := c.jvm.layout.release
	for n := 0; at > 0 && n < maxFrames; n++ {
		s, ok := readScope(c.scopes, at, release)
		if !ok {
			return text, fmt.Errorf("no scope is at %d of %d bytes", at, len(c.scopes))
		}
		if s.method == 0 || s.method > len(c.methods) {
			return text, fmt.Errorf("a scope names method %d of %d", s.method, len(c.methods))
		}
		m, err := c.jvm.method(c.methods[s.method-1])
		if err != nil {
			return text, err
		}
		if n == 0 {
			text = c.jvm.appendBytecode(text, m, s.bci)
		} else {
			text = append(text, ' ')
		}
		text = append(text, "; - "...)
		text = append(text, escape(m.name)...)
		text = strconv.AppendInt(append(text, '@'), int64(s.bci), 10)
		if line := m.line(s.bci); line > 0 {
			text = append(strconv.AppendInt(append(text, " (line "...), int64(line), 10), ')')
		}
		text = append(text, '\n')
		if at = s.sender; at == 0 && m.name != c.Name {
			return text, fmt.Errorf("it is of %s by its debug info", m.name)
		}
	}
	return text, nil
}

// appendBytecode writes what the innermost frame was doing, on a line that the
// frames' own lines follow.
func (j *JVM) appendBytecode(text []byte, m *method, bci int) []byte {
	name := m.bytecode(bci)
	if bci == entryBCI {
		name = "synchronization entry"
	}
	if name == "" {
		return text
	}
	text = append(append(text, ";*"...), name...)
	if member := j.member(m, bci); member != "" {
		text = append(append(text, ' '), escape(member)...)
	}
	return append(text, "\n "...)
}

// escape escapes what XML does not take in text, as HotSpot does in its log.
func escape(s string) string {
	if !strings.ContainsAny(s, "<>&") {
		return s
	}
	return escaper.Replace(s)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
