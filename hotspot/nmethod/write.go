package nmethod

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gasm-profiler/gasm/printassembly"
)

// syncEntryBCI is the bci of what a method does before its first bytecode, such as taking its lock
// (SynchronizationEntryBCI in globalDefinitions.hpp).
const syncEntryBCI = -1

// placesOutside has HotSpot's names for the places in a method that are not at a bytecode, by their negative bcis
// (MethodCompilation in globalDefinitions.hpp). Only JVMCI compilers use those below -1.
var placesOutside = map[int]string{
	syncEntryBCI: "synchronization entry",
	-2:           " method exit (unlocked if synchronized)",
	-3:           " unwind (locked if synchronized)",
	-4:           " unwind (unlocked if synchronized)",
	-5:           " unknown",
	-6:           " invalid frame state",
}

// rowBytes is the number of bytes of code in a row of the text. A row is shorter if a mark, such as "[Stub Code]",
// follows.
const rowBytes = 32

// maxFrames is the maximum length of a chain of inlined methods. A longer chain is an error. HotSpot's MaxInlineLevel
// is 15.
const maxFrames = 500

// maxText is the maximum length of a method's text, in bytes. A longer text is an error. This limits the output if the
// memory that was read does not contain debug info.
const maxText = 1 << 26

var errTooLarge = errors.New("its debug info is larger than that of any method")

// AppendTo appends the method as text, in the form in which HotSpot prints it without hsdis. An error means that the
// debug info or the relocations can't be read. Even then, the text has all machine code, and the comments up to the
// error.
func (c *Code) AppendTo(text []byte) ([]byte, error) {
	w := codeWriter{code: c, limit: len(text) + maxText}
	w.text = c.appendHead(text)
	w.text = append(w.text, "[MachCode]\n"+printassembly.ExactMark+"\n"...)
	err := w.comments()
	w.rowsTo(len(c.MachineCode) + rowBytes)
	return append(w.text, "[/MachCode]\n"...), err
}

// comments writes all comments, each before the row of code that it belongs to. It also writes the rows before the
// last comment.
func (w *codeWriter) comments() error {
	c := w.code
	if c.copier.layout.noFrames != nil {
		return nil
	}
	relocs, err := c.relocReader()
	if err != nil {
		return err
	}
	w.relocs, w.implicit = relocs, c.implicitExceptions()
	w.hasReloc = w.nextRelocation()
	err = eachPCDesc(c.scopesPCs, len(c.MachineCode), func(d pcDesc) bool {
		if w.err = w.referencesTo(d.end); w.err == nil {
			w.rowsTo(d.end - 1)
			w.err = w.comment(d)
		}
		return w.err == nil
	})
	if w.err == nil && err == nil {
		w.err = w.referencesTo(len(c.MachineCode))
	}
	if w.err != nil {
		return w.err
	}
	return err
}

// referencesTo writes the relocations and the implicit exceptions of the instructions that start before an offset. Each
// is written with the address at which its instruction starts.
func (w *codeWriter) referencesTo(offset int) error {
	for ; len(w.implicit) > 0 && w.implicit[0].at < offset; w.implicit = w.implicit[1:] {
		e := w.implicit[0]
		if err := w.relocationsTo(e.at + 1); err != nil {
			return err
		}
		w.rowsTo(e.at)
		w.appendAddress(e.at)
		w.text = append(w.text, " ; implicit exception: "...)
		if e.target == e.at {
			w.text = append(w.text, "deoptimizes\n"...)
			continue
		}
		w.text = fmt.Appendf(w.text, "dispatches to %#016x\n", w.code.Lo+uint64(e.target))
	}
	return w.relocationsTo(offset)
}

// relocationsTo writes the relocations of the instructions that start before an offset. Each is written with the
// address at which its instruction starts.
func (w *codeWriter) relocationsTo(offset int) error {
	for ; w.hasReloc && w.reloc.offset < offset; w.hasReloc = w.nextRelocation() {
		if len(w.text) > w.limit {
			return errTooLarge
		}
		w.rowsTo(w.reloc.offset)
		w.appendAddress(w.reloc.offset)
		w.text = append(w.text, " ;   "...)
		w.text = append(w.code.appendRelocation(w.text, &w.reloc), '\n')
	}
	return nil
}

// nextRelocation reads the next relocation within the code. It returns false at the end.
func (w *codeWriter) nextRelocation() (ok bool) {
	for {
		if w.reloc, ok = w.relocs.next(); !ok || w.reloc.offset >= 0 {
			return ok
		}
	}
}

// appendHead appends the lines before the code:
//
//	Compiled method (c2) 363 73 % 4 Workload::dot @ 4 (28 bytes)
//	 total in heap  [0x00007fae08ed7610,0x00007fae08ed7a90] = 1152
//	 main code      [0x00007fae08ed77a0,0x00007fae08ed7900] = 352
//	 stub code      [0x00007fae08ed7900,0x00007fae08ed7918] = 24
func (c *Code) appendHead(text []byte) []byte {
	compiler, attribute, name, size := c.Compiler, ' ', printassembly.Escape(c.Name),
		fmt.Sprintf("%d bytes", c.BytecodeSize)
	switch {
	case c.Kind == "osr":
		attribute, name = '%', name+fmt.Sprintf(" @ %d", c.OSRBCI)
	case c.Compiler == "":
		compiler, attribute, size = "n/a", 'n', "native"
	}
	text = fmt.Appendf(text, "Compiled method (%s) %d %d %c %d %s (%s)\n", compiler, c.UptimeMillis, c.ID, attribute,
		c.Level, name, size)
	text = appendRange(text, "total in heap", c.Address, c.Address+c.Size)
	text = appendRange(text, "main code", c.Lo, c.Stub)
	if c.Stub < c.Hi {
		text = appendRange(text, "stub code", c.Stub, c.Hi)
	}
	return text
}

func appendRange(text []byte, name string, lo, hi uint64) []byte {
	return fmt.Appendf(text, " %-14s [%#016x,%#016x] = %d\n", name, lo, hi, hi-lo)
}

// A codeWriter writes the rows of a method's code, with comments before them.
type codeWriter struct {
	code    *Code
	text    []byte
	limit   int // maximum length of text in bytes
	nextRow int // offset in the code of the first byte that has not been written yet

	// The text of the last chain of frames, without addresses. The next PcDesc often has the same chain.
	frames []byte
	scope  int
	err    error // the error that stopped the writing of comments

	relocs   *relocReader
	reloc    relocation // the next relocation to be written
	hasReloc bool
	implicit []implicitException // the implicit exceptions that are still to be written
}

// rowsTo writes the rows before the one that holds the byte at an offset.
func (w *codeWriter) rowsTo(offset int) {
	size := len(w.code.MachineCode)
	for w.nextRow < size && w.nextRow+rowBytes <= offset {
		end := min(w.nextRow+rowBytes, size)
		for w.nextRow < end {
			w.nextRow = w.row(w.nextRow, end)
		}
	}
}

// row writes the bytes from one offset to another. If there is a mark in between, row stops there. It returns the
// offset where it stopped:
//
//	[Verified Entry Point]
//	  0x00007fae08ed77a0: e85b be41 | 1566 6666 | 0f1f 8400
func (w *codeWriter) row(from, to int) (end int) {
	for _, m := range w.code.marks() {
		switch {
		case m.offset == from:
			w.text = append(append(w.text, m.text...), '\n')
		case m.offset > from && m.offset < to:
			to = m.offset
		}
	}
	w.appendAddress(from)
	for i, b := range w.code.MachineCode[from:to] {
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

// appendAddress writes the address of an offset: two blanks, 0x00007fae08ed77a0 and a colon. Writing a method consists
// mostly of writing addresses, and fmt would be slower.
func (w *codeWriter) appendAddress(offset int) {
	at := w.code.Lo + uint64(offset)
	w.text = append(w.text, "  0x"...)
	for shift := 60; shift >= 0; shift -= 4 {
		w.text = append(w.text, digits[at>>shift&15])
	}
	w.text = append(w.text, ':')
}

// A mark is a line before the instruction at an offset of the code. It names the section that begins there.
type mark struct {
	offset int
	text   string
}

// marks returns the method's marks. The offset of a mark is -1 if the method does not have it.
func (c *Code) marks() [2]mark {
	verified, stub := -1, -1
	if c.VerifiedEntry > 0 {
		verified = int(c.VerifiedEntry - c.Lo)
	}
	if c.Stub < c.Hi {
		stub = int(c.Stub - c.Lo)
	}
	return [2]mark{{verified, "[Verified Entry Point]"}, {stub, "[Stub Code]"}}
}

// comment writes the frames of a PcDesc at the address of the last byte of its instruction.
func (w *codeWriter) comment(d pcDesc) error {
	if d.scope != w.scope || len(w.frames) == 0 {
		var err error
		w.scope = d.scope
		if w.frames, err = w.code.appendFrames(w.frames[:0], d.scope); err != nil {
			return err
		}
	}
	if len(w.frames) == 0 {
		return nil
	}
	if len(w.text)+len(w.frames) > w.limit {
		return errTooLarge
	}
	w.appendAddress(d.end - 1)
	w.text = append(append(w.text, ' '), w.frames...)
	return nil
}

// appendFrames appends the bytecode of the innermost frame of a scope, and then each
// frame from the innermost to the outermost:
//
//	;*invokevirtual length
//	 ; - Foo::inlined@9 (line 12)
//	 ; - Foo::bar@3 (line 30)
//
// The outermost frame must be that of the method itself. If it is not, the memory does not hold the method's debug
// info.
func (c *Code) appendFrames(text []byte, offset int) ([]byte, error) {
	for n := 0; offset > 0 && n < maxFrames; n++ {
		s, m, err := c.scopeAt(offset)
		if err != nil {
			return text, err
		}
		if c.used[s.method] = true; n == 0 {
			text = c.copier.appendBytecode(text, m, s.bci)
		} else {
			text = append(text, ' ')
		}
		text = appendFrame(text, m, s.bci)
		if offset = s.sender; len(text) > maxText {
			return text, errTooLarge
		}
	}
	if offset > 0 {
		return text, errLongChain
	}
	return text, nil
}

// appendBytecode appends a line with the bytecode of the innermost frame, ";*invokevirtual length", and the blank that
// begins the next line. It appends nothing if the bci has no bytecode.
func (c *Copier) appendBytecode(text []byte, m *method, bci int) []byte {
	name := c.bytecodeName(m, bci)
	if outside, ok := placesOutside[bci]; ok {
		name = outside
	}
	if name == "" {
		return text
	}
	text = append(append(text, ";*"...), name...)
	if member := c.member(m, bci); member != "" {
		text = append(append(text, ' '), printassembly.Escape(member)...)
	}
	return append(text, "\n "...)
}

func appendFrame(text []byte, m *method, bci int) []byte {
	text = append(append(text, "; - "...), printassembly.Escape(m.name)...)
	text = strconv.AppendInt(append(text, '@'), int64(bci), 10)
	if line := m.line(bci); line > 0 {
		text = append(strconv.AppendInt(append(text, " (line "...), int64(line), 10), ')')
	}
	return append(text, '\n')
}
