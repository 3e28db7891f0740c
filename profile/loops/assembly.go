package loops

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
)

// Assembly returns the path through the loop that has most samples as assembler source, for programs that model a
// processor. The source has nothing but x86-64 instructions, with the texts that the disassembler made. Jumps out of
// the path lead to a label, because such programs refuse addresses. Assembly returns "" if the path has calls, if it is
// too long, or if the text of an instruction does not look like one.
func (f *Facts) Assembly() string {
	if len(f.body) == 0 {
		return ""
	}
	return strings.Join(f.body, "\n") + "\n"
}

// assembly returns the lines of Assembly for a path.
func (c *Code) assembly(path []int) []string {
	if len(path) > maxBody {
		return nil
	}
	const top = "gasm_top"
	body := make([]string, 0, len(path)+2)
	body = append(body, top+":")
	intel := false
	for n, i := range path {
		line := &c.lines[i]
		text := line.Text
		if at := strings.Index(text, " #"); at >= 0 {
			text = text[:at]
		}
		text = strings.TrimSpace(text)
		intel = intel || strings.Contains(text, " PTR ")
		switch {
		case line.Bad || line.Kind == disasm.Return || line.Kind == disasm.Call || !plainText(text):
			return nil
		case line.Kind == disasm.Jump:
			if n == len(path)-1 {
				body = append(body, "\tjmp "+top)
			}
			continue
		case line.Kind == disasm.CondJump:
			body = append(body, "\t"+mnemonicOf(text)+" "+top)
			continue
		}
		body = append(body, "\t"+text)
	}
	if intel || !strings.Contains(strings.Join(body, ""), "%") {
		body = append([]string{".intel_syntax noprefix"}, body...)
	}
	return body
}

// plainText reports whether an instruction's text has only characters that occur in instructions of x86-64. So it can't
// contain a directive, a second statement, a comment or a symbol of the assembler.
func plainText(text string) bool {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for i := range len(text) {
		ch := text[i]
		ok := ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z' || ch >= '0' && ch <= '9' ||
			strings.IndexByte(" %$(),*[]+-:{}", ch) >= 0
		if !ok {
			return false
		}
	}
	return true
}
