package printassembly

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/disasm"
)

// Code reads the instructions of a blob from the log, by ascending address and
// without gaps where the log has none. A blob whose code the log does not have
// gives none.
func (l *Log) Code(b *Blob, syntax disasm.Syntax) ([]Instruction, error) {
	if !b.HasCode {
		return nil, nil
	}
	c := codeReader{blob: b, log: l, syntax: syntax}
	if err := l.eachLine(b, c.take); err != nil {
		return nil, fmt.Errorf("reading the code of %s in %s: %w", b.Name, l.name, err)
	}
	c.decodeRows()
	spreadFrames(c.insts)
	return c.insts, nil
}

// eachLine hands on the lines of the blob's writer behind the blob's first one,
// until take is done. A line that other threads' lines cut in two is whole
// again.
func (l *Log) eachLine(b *Blob, take func(line []byte) (done bool)) error {
	lines := &lineReader{r: bufio.NewReaderSize(io.NewSectionReader(l.file, b.offset, b.end-b.offset), 1<<14)}
	lines.indent = l.indent
	lines.next()    // the blob's first line
	var held []byte // the last line, which may go on behind other threads' lines
	mine, back := true, false
	for lines.next() {
		if bytes.HasPrefix(lines.line, []byte("<writer ")) {
			mine, back = string(attr(lines.line, "thread")) == b.writer, true
			continue
		}
		switch {
		case !mine:
			continue
		case back && goesOn(lines.line):
			held = append(held, lines.line...)
		case take(held):
			return nil
		default:
			held = append(held[:0], lines.line...)
		}
		back = false
	}
	take(held)
	return lines.err
}

// goesOn tells whether a line can be the second half of a cut one. All other
// lines within a blob start with a blank, a mark or a tag.
func goesOn(line []byte) bool {
	return len(line) > 0 && !bytes.ContainsRune([]byte(" [<#;-="), rune(line[0]))
}

// A codeReader takes the lines of one blob.
type codeReader struct {
	blob    *Blob
	log     *Log
	syntax  disasm.Syntax
	insts   []Instruction
	machine bool    // between [MachCode] and [/MachCode]
	rows    hexRows // of the hex dump
	section string  // name of a section that has begun and has no instruction yet
	lead    []string
	skip    bool // the last row was none of the blob's, so its comments are not either
}

// take reads one line; true at the end of the blob's code.
func (c *codeReader) take(line []byte) (done bool) {
	line = bytes.TrimRight(line, " ")
	switch {
	case len(line) == 0:
	case line[0] == '[':
		return c.mark(line)
	case line[0] == '<' || bytes.HasPrefix(line, []byte("- - - [")) || line[0] == 'O' && bytes.HasPrefix(line, []byte("OopMap")):
		// </print_nmethod> ends an nmethod, OOP MAPS or END a stub, OopMapSet JDK 8's code.
		return len(c.insts) > 0 || len(c.rows.code) > 0
	case c.machine:
		c.rows.take(line)
	case bytes.HasPrefix(line, []byte("  0x")):
		c.textLine(line[2:])
	default:
		c.comment(bytes.TrimLeft(line, " "))
	}
	return false
}

// mark takes "[Entry Point]" and its like.
func (c *codeReader) mark(line []byte) (done bool) {
	name, _, ok := bytes.Cut(line[1:], []byte{']'})
	if !ok {
		return false
	}
	switch string(name) {
	case "MachCode":
		c.machine = true
	case "/MachCode", "/Disassembly":
		return true
	case "Disassembly", "Constant Pool (empty)", "Instructions begin":
	case ExactMark[1 : len(ExactMark)-1]:
		c.rows.exact = true
	default:
		switch {
		case bytes.HasPrefix(name, []byte("Disassembl")):
			// [Disassembling for mach='i386:x86-64']: hsdis about itself
		case string(name) == "Constants" && c.section != "":
			// JDK 8 and 11 have it at each entry point
		case c.machine:
			c.rows.section(string(name))
		default:
			c.section = string(name)
		}
	}
	return false
}

// decodeRows turns the bytes into instructions with their comments. A damaged log may have
// both bytes and hsdis's text of a blob; then the bytes count.
func (c *codeReader) decodeRows() {
	if len(c.rows.code) == 0 {
		return
	}
	c.insts = nil
	for _, run := range c.rows.runs(c.blob.Lo, c.blob.Hi) {
		from := len(c.insts)
		insts, err := disasm.Decode(c.log.arch, c.syntax, run.code, run.lo)
		if err != nil {
			insts = undecoded(run.code, run.lo)
		}
		for _, in := range insts {
			c.insts = append(c.insts, Instruction{Lo: in.Addr, Hi: in.Addr + uint64(in.Len),
				Text: in.Text, Kind: in.Kind, Target: in.Target, Bad: in.Bad})
		}
		c.rows.annotate(c.insts[from:])
	}
}

// undecoded shows code of an instruction set that disasm does not know, four bytes a line,
// which is how long the instructions of most such sets are.
func undecoded(code []byte, lo uint64) []disasm.Inst {
	var insts []disasm.Inst
	for i := 0; i < len(code); i += 4 {
		word := code[i:min(i+4, len(code))]
		insts = append(insts, disasm.Inst{Addr: lo + uint64(i), Len: len(word),
			Text: fmt.Sprintf(".byte  % x", word), Bad: true})
	}
	return insts
}

// spreadFrames gives each instruction without debug info that of the next one which has
// it, because debug info describes all code up to its own instruction (HotSpot's
// nmethod::pc_desc_near takes the first PcDesc at or behind a PC).
func spreadFrames(insts []Instruction) {
	var frames []Frame
	for i := len(insts) - 1; i >= 0; i-- {
		if in := &insts[i]; in.OwnFrames {
			frames = in.Frames
		} else {
			in.Frames = frames
		}
	}
}
