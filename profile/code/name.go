package code

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// maxName limits the length of an instruction's text in its name, in bytes. The longest instructions of x86-64 have
// about 70.
const maxName = 100

// Name returns the text of insts[i] as a name that is the same in all JVMs, if they have compiled the method in the
// same way:
//
//	vaddsd 0x10(%rsi,%rdi,8),%xmm0,%xmm0
//	jl -0x40
//	mov #(%rip),%rax
//
// The target of a jump within the code is written as its distance from the jump in bytes. Hexadecimal numbers of more
// than four digits, and all that may be a part of an address, are replaced with #. Names of methods and classes are
// left out. The result is printable ASCII of limited length.
func Name(insts []printassembly.Instruction, i int) string {
	in := &insts[i]
	text, _, _ := strings.Cut(in.Text, "  # ") // an address
	text, _, _ = strings.Cut(text, "  // ")    // another name of a condition
	text = printable(text)
	switch mnemonic, _, _ := strings.Cut(text, " "); {
	case in.Target != 0 && in.Kind != disasm.Plain:
		return jumpName(insts, in, text)
	case mnemonic == "movk" || mnemonic == "adrp" || i+1 < len(insts) && strings.HasPrefix(insts[i+1].Text, "movk"):
		return withoutNumbers(text, 1) // aarch64 loads an address in parts
	}
	return normalText(&printassembly.Instruction{Text: text, Comments: in.Comments})
}

// jumpName replaces the target of a direct jump or call, which is the last operand.
func jumpName(insts []printassembly.Instruction, in *printassembly.Instruction, text string) string {
	at := strings.LastIndex(text, "0x")
	if at < 0 {
		return withoutNumbers(text, 1)
	}
	if in.Target < insts[0].Lo || in.Target >= insts[len(insts)-1].Hi {
		return text[:at] + "#"
	}
	return fmt.Sprintf("%s%+#x", text[:at], int64(in.Target-in.Lo))
}

// printable returns at most maxName bytes of a text, with single blanks, and with ? for everything that is not
// printable ASCII.
func printable(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), maxName)]
}
