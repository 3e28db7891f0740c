package printassembly

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
)

// Code reads the instructions of a blob from the log. They are sorted by address, and have no gaps if the code in
// the log has no gaps. Code returns nil if the log does not have the blob's code. If the code exceeds a limit, Code
// returns the instructions before the limit, and a [TooMuchError].
func (l *Log) Code(b *Blob, syntax disasm.Syntax) ([]Instruction, error) {
	t, err := l.Text(b)
	if err != nil {
		return nil, err
	}
	return t.Code(syntax)
}

// A CodeText is the text of a blob's code in the log. Its methods decode it.
type CodeText struct {
	reader codeReader
	runs   []codeRun // the bytes of the instructions, once they are decoded
	syntax disasm.Syntax
}

// Text reads a blob's code from the log, but does not decode the instructions.
func (l *Log) Text(b *Blob) (*CodeText, error) { return l.text(b, false) }

// text reads a blob's code. With framesOnly, it leaves out all comments that are not frames.
func (l *Log) text(b *Blob, framesOnly bool) (*CodeText, error) {
	t := &CodeText{reader: codeReader{blob: b, log: l, rows: hexRows{framesOnly: framesOnly}}}
	if !b.HasCode {
		return t, nil
	}
	if err := l.eachLine(b, t.reader.take); err != nil {
		return nil, fmt.Errorf("reading the code of %s in %s: %w", b.Name, l.name, err)
	}
	t.reader.rows.sortNotes()
	return t, nil
}

// Lead returns the comments at the first byte of the code, except debug info. It returns nil unless gasm itself has
// copied the code.
func (t *CodeText) Lead() (comments []string) {
	rows := &t.reader.rows
	for i := 0; rows.exact && len(rows.pieces) > 0 && i < len(rows.notes); i++ {
		if n := &rows.notes[i]; n.cell == rows.pieces[0].lo && !n.debug && !n.section {
			comments = append(comments, n.text)
		} else if n.cell > rows.pieces[0].lo {
			break
		}
	}
	return comments
}

// Code decodes the instructions, see [Log.Code].
func (t *CodeText) Code(syntax disasm.Syntax) ([]Instruction, error) {
	return t.decode(func(code []byte, pc uint64) ([]disasm.Inst, error) {
		return disasm.Decode(t.reader.log.arch, syntax, code, pc)
	})
}

// Outline does the same as Code, but leaves out the texts of some instructions if that saves time, see
// [disasm.Outline]. SetText sets them.
func (t *CodeText) Outline(syntax disasm.Syntax) ([]Instruction, error) {
	if !t.reader.rows.exact { // the texts are needed to find out which instruction a comment belongs to
		return t.Code(syntax)
	}
	t.syntax = syntax
	return t.decode(func(code []byte, pc uint64) ([]disasm.Inst, error) {
		return disasm.Outline(t.reader.log.arch, syntax, code, pc)
	})
}

// SetText sets the text of an instruction that Outline has returned.
func (t *CodeText) SetText(in *Instruction) {
	if in.Text != "" {
		return
	}
	// The runs are in the order of their addresses. A damaged log may have very many.
	i, found := slices.BinarySearchFunc(t.runs, in.Lo, func(run codeRun, lo uint64) int { return cmp.Compare(run.lo, lo) })
	if !found {
		i--
	}
	if i < 0 || in.Lo-t.runs[i].lo >= uint64(len(t.runs[i].code)) {
		return
	}
	code := t.runs[i].code[in.Lo-t.runs[i].lo:]
	code = code[:min(in.Hi-in.Lo, uint64(len(code)))]
	if insts, err := disasm.Decode(t.reader.log.arch, t.syntax, code, in.Lo); err == nil && len(insts) > 0 {
		in.Text = insts[0].Text
	}
}

// decode decodes the instructions. It calls the given function for each run of bytes.
func (t *CodeText) decode(decode func(code []byte, pc uint64) ([]disasm.Inst, error)) ([]Instruction, error) {
	c := &t.reader
	c.decoder = decode
	t.runs = c.decodeRows()
	spreadFrames(c.insts)
	if c.tooMuch == "" {
		c.tooMuch = c.rows.tooMuch
	}
	if c.tooMuch != "" {
		return c.insts, &TooMuchError{c.log.name, c.blob.Name, c.tooMuch}
	}
	return c.insts, nil
}

// Extent returns where the lines of a blob are in the log, [lo, hi). The lines of the log's next blob begin at hi or
// later. ok is false if the lines are not in one piece, because lines of other threads are between them.
func (l *Log) Extent(b *Blob) (lo, hi int64, ok bool) {
	return b.offset, b.end, len(b.turns) == 0 && b.offset <= b.end
}

// eachLine calls take(line) for each line of a blob after its first line. It stops when take returns true. All lines of
// a blob are written by the same thread. If lines of other threads cut a line in two, eachLine joins the halves again.
func (l *Log) eachLine(b *Blob, take func(line []byte) (done bool)) error {
	var held []byte // the last line so far, which may continue after lines of other threads
	lines := &lineReader{indent: l.indent}
	for i := -1; i < len(b.turns); i++ {
		t := turn{b.offset, b.end}
		if i >= 0 {
			t = b.turns[i]
		}
		lines.reset(io.NewSectionReader(l.file, t.from, t.to-t.from))
		lines.next() // skip the blob's first line, or the tag that begins the turn
		back := i >= 0
		for lines.next() {
			switch {
			case bytes.HasPrefix(lines.line, []byte("<writer ")): // the same writer's tag again
				back = true
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
		if lines.err != nil {
			return lines.err
		}
	}
	take(held)
	return nil
}

// goesOn reports whether a line can be the second half of a line that was cut in two. All other lines within a blob
// start with a blank, a mark or a tag.
func goesOn(line []byte) bool {
	return len(line) > 0 && !bytes.ContainsRune([]byte(" [<#;-="), rune(line[0]))
}

// A codeReader reads the lines of one blob.
type codeReader struct {
	blob    *Blob
	log     *Log
	decoder func(code []byte, pc uint64) ([]disasm.Inst, error)
	insts   []Instruction
	machine bool    // between [MachCode] and [/MachCode]
	rows    hexRows // the rows of the hex dump so far
	section string  // name of a section that has begun but has no instruction yet
	lead    []string
	skip    bool   // the last row was not used, so its comments are skipped, too
	tooMuch string // what there was too much of, such as "comments"; "" if no limit was exceeded
	notes   int    // number of comments and frames so far
}

// Upper bounds for the code of one blob. If a blob exceeds one of them, the rest of its code is left out, and there is
// a TooMuchError. C1 makes at most 512 kB of code (NMethodSizeLimit in c1_globals.hpp), a JVMCI compiler 640 kB
// (JVMCINMethodSizeLimit), and C2 as much as 80000 nodes need (MaxNodeLimit). An instruction takes about four bytes.
// HotSpot inlines up to 15 levels deep, or up to 100 with method handles (MaxInlineLevel, MaxForceInlineLevel). Graal
// goes deeper.
const (
	maxInstructions = 1 << 20
	maxCode         = 15 * maxInstructions // in bytes: an x86 instruction has at most 15
	maxNotes        = 1 << 20              // comments and frames of one blob
	maxFrames       = 1000                 // frames of one inlining chain
)

// A TooMuchError reports that a blob exceeds what HotSpot's code can have, so the log is damaged.
type TooMuchError struct{ Log, Name, What string }

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("%s is damaged: %s has more %s than code of HotSpot can have; the rest of it is left out", e.Log,
		e.Name, e.What)
}

// take reads one line. It returns true at the end of the blob's code.
func (c *codeReader) take(line []byte) (done bool) {
	line = bytes.TrimRight(line, " ")
	switch {
	case len(line) == 0:
	case line[0] == '[':
		return c.mark(line)
	case line[0] == '<' || bytes.HasPrefix(line, []byte("- - - [")) || line[0] == 'O' &&
		bytes.HasPrefix(line, []byte("OopMap")):
		// An nmethod ends at </print_nmethod>, a stub at OOP MAPS or END, and JDK 8's code at OopMapSet.
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

// mark reads a line like "[Entry Point]".
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
	case ExactMark[1 : len(ExactMark)-1], oldExactMark[1 : len(oldExactMark)-1]:
		c.rows.exact = true
	default:
		switch {
		case bytes.HasPrefix(name, []byte("Disassembl")):
			// [Disassembling for mach='i386:x86-64'] is a message from hsdis and not the name of a section.
		case string(name) == "Constants" && c.section != "":
			// JDK 8 and 11 also print [Constants] at each entry point. The section keeps the entry
			// point's name.
		case c.machine:
			c.rows.section(string(name))
		default:
			c.section = string(name)
		}
	}
	return false
}

// decodeRows decodes the bytes into instructions and adds their comments. If a damaged log has both the bytes of a blob
// and hsdis's text of it, the bytes are used. decodeRows returns the bytes.
func (c *codeReader) decodeRows() []codeRun {
	if len(c.rows.code) == 0 {
		return nil
	}
	c.insts = nil
	runs := c.rows.runs(c.blob.Lo, c.blob.Hi)
	for _, run := range runs {
		from := len(c.insts)
		c.decode(run)
		c.rows.annotate(c.insts[from:])
		if c.tooMuch != "" {
			break
		}
	}
	return runs
}

const (
	// decodedAtOnce is the number of bytes that are decoded in one call. It is limited to save memory, because a
	// decoded disasm.Inst is twice as large as an [Instruction].
	decodedAtOnce = 64 << 10
	// longest is the length of the longest instruction of any instruction set, in bytes.
	longest = 15
)

// decode decodes a run of bytes and appends the instructions to c.insts.
func (c *codeReader) decode(run codeRun) {
	for at := 0; at < len(run.code); {
		lo := run.lo + uint64(at)
		part := run.code[at:min(at+decodedAtOnce+longest, len(run.code))]
		insts, err := c.decoder(part, lo)
		if err != nil {
			insts = undecoded(part, lo)
		}
		c.insts = slices.Grow(c.insts, len(insts))
		for _, in := range insts {
			if in.Addr-lo >= decodedAtOnce { // the instruction may be cut off, because part ends within it
				break
			}
			if len(c.insts) == maxInstructions {
				c.tooMuch = "instructions"
				return
			}
			c.insts = append(c.insts, Instruction{Lo: in.Addr, Hi: in.Addr + uint64(in.Len),
				Text: in.Text, Kind: in.Kind, Target: in.Target, Bad: in.Bad})
			at = int(in.Addr-run.lo) + in.Len
		}
	}
}

// undecoded returns ".byte" lines for code of an instruction set that disasm does not know. Each line has four bytes,
// the usual length of an instruction in these instruction sets.
func undecoded(code []byte, lo uint64) []disasm.Inst {
	var insts []disasm.Inst
	for i := 0; i < len(code); i += 4 {
		word := code[i:min(i+4, len(code))]
		insts = append(insts, disasm.Inst{Addr: lo + uint64(i), Len: len(word),
			Text: fmt.Sprintf(".byte  % x", word), Bad: true})
	}
	return insts
}

// spreadFrames sets the frames of each instruction without debug info to the frames of the next instruction that has
// debug info. Debug info describes all code up to its instruction: HotSpot's nmethod::pc_desc_near takes the first
// PcDesc at or after a PC.
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
