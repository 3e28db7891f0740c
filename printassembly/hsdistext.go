package printassembly

import (
	"bytes"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
)

// textLine reads an instruction that hsdis printed:
//
//	0x00007efcf8ece120:   call   0x00007efd102f3600           ;   {runtime_call os::breakpoint()}
func (c *codeReader) textLine(line []byte) {
	addr, n := hexAddr(line)
	if n == 0 || n >= len(line) || line[n] != ':' {
		return
	}
	rest := bytes.TrimLeft(line[n+1:], " \t")
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == '#') {
		c.comment(rest)
		return
	}
	text, comment := cutComment(rest)
	text = bytes.ReplaceAll(text, []byte{'\t'}, []byte{' '}) // on aarch64 a tab follows the mnemonic
	if last := len(c.insts) - 1; last >= 0 {
		if addr <= c.insts[last].Lo {
			c.skip = true // the code starts again, because JDK 8 prints methods twice
			return
		}
		c.insts[last].Hi = min(c.insts[last].Hi, addr)
	}
	c.skip = addr < c.blob.Lo || addr >= c.blob.Hi
	if c.skip {
		return
	}
	if len(c.insts) == maxInstructions {
		c.tooMuch, c.skip = "instructions", true
		return
	}
	in := Instruction{Lo: addr, Hi: c.blob.Hi, Text: unescape(bytes.TrimRight(text, " ")),
		Section: c.section, Comments: c.lead}
	in.Kind, in.Target = flow(in.Text)
	c.section, c.lead = "", nil
	c.insts = append(c.insts, in)
	if len(comment) > 0 {
		c.comment(comment)
	}
}

// comment reads a comment. Most comments are to the right of their instruction or below it. But a comment before the
// first instruction of a section belongs to that instruction.
func (c *codeReader) comment(line []byte) {
	if c.skip || len(line) == 0 || line[0] == '-' || line[0] != ';' && line[0] != '#' && line[0] != ' ' &&
		line[0] != '*' && line[0] != '{' {
		return
	}
	text := cleanComment(line)
	if text == "" {
		return
	}
	if c.notes++; c.notes >= maxNotes {
		c.tooMuch = "comments"
		return
	}
	if c.section != "" || len(c.insts) == 0 {
		c.lead = append(c.lead, text)
		return
	}
	in := &c.insts[len(c.insts)-1]
	if frame, ok := strings.CutPrefix(text, "-"); ok {
		if f, ok := parseFrame(frame); ok {
			if len(in.Frames) == maxFrames {
				c.tooMuch = "inlining"
				return
			}
			in.Frames, in.OwnFrames = append(in.Frames, f), true
			return
		}
	}
	in.Comments = append(in.Comments, text)
}

// flow parses the text of an instruction of x86 or aarch64. It returns the kind and, for a direct call or jump, the
// target.
func flow(text string) (kind disasm.Kind, target uint64) {
	for strings.HasPrefix(text, "{") { // "{rex2 0x18} call *%r16"
		_, text, _ = strings.Cut(text, "}")
		text = strings.TrimLeft(text, " ")
	}
	op, operand, _ := strings.Cut(text, " ")
	switch {
	case op == "bnd" || op == "notrack":
		return flow(strings.TrimLeft(operand, " "))
	case strings.HasPrefix(op, "call") || op == "bl" || op == "blr":
		kind = disasm.Call
	case strings.HasPrefix(op, "jmp") || op == "b" || op == "br":
		kind = disasm.Jump
	case op[:min(1, len(op))] == "j" || strings.HasPrefix(op, "b.") ||
		op == "cbz" || op == "cbnz" || op == "tbz" || op == "tbnz":
		kind = disasm.CondJump
	case strings.HasPrefix(op, "ret"):
		return disasm.Return, 0
	default:
		return disasm.Plain, 0
	}
	// In aarch64's conditional jumps, a register may come before the target.
	if i := strings.LastIndexAny(operand, " ,"); i >= 0 {
		operand = operand[i+1:]
	}
	target, _ = hexAddr([]byte(strings.TrimPrefix(operand, "$"))) // jmpabs $0x10
	return kind, target
}

// cutComment splits an instruction from its comment, which starts at a semicolon. The semicolon of an XML entity
// ("call &lt;f&gt;") does not start a comment.
func cutComment(rest []byte) (text, comment []byte) {
	for from := 0; ; {
		i := bytes.IndexByte(rest[from:], ';')
		if i < 0 {
			return rest, nil
		}
		i += from
		from = i + 1
		if amp := bytes.LastIndexByte(rest[:i], '&'); amp < 0 || i-amp > len("&apos") ||
			bytes.ContainsAny(rest[amp:i], " ,") {
			return rest[:i], rest[i+1:]
		}
	}
}
