package chains

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// instructions returns the instructions in a text, one a line. Each is one byte long. A line may begin with a section
// in brackets, and end with the number of the line to which it jumps.
func instructions(text string) []printassembly.Instruction {
	var insts []printassembly.Instruction
	for line := range strings.Lines(text) {
		in := printassembly.Instruction{Lo: uint64(len(insts)), Hi: uint64(len(insts) + 1), Text: strings.TrimSpace(line)}
		if section, rest, ok := strings.Cut(in.Text, "] "); ok {
			in.Section, in.Text = section[1:], rest
		}
		switch mnemonic, operand, _ := strings.Cut(in.Text, " "); mnemonic {
		case "jmp", "ja", "jne":
			in.Kind = disasm.CondJump
			if mnemonic == "jmp" {
				in.Kind = disasm.Jump
			}
			fmt.Sscan(operand, &in.Target)
		case "ret":
			in.Kind = disasm.Return
		case "call":
			in.Kind = disasm.Call
			fmt.Sscan(operand, &in.Target)
		}
		insts = append(insts, in)
	}
	return insts
}

func TestFrameless(t *testing.T) {
	for _, c := range []struct {
		what, text string
		framed     bool
		want       string // a dot for each instruction without a frame
	}{
		{"C2", `mov 0x8(%rsi),%r10d
			cmp %rax,%r10
			jne 999
			nop
			[Verified Entry Point] mov %eax,-0x14000(%rsp)
			push %rbp
			mov %rsp,%rbp
			sub $0x10,%rsp
			call 0
			add $0x10,%rsp
			pop %rbp
			cmp 0x3b8(%r15),%rsp
			ja 17
			ret
			mov %rax,%rbx
			call 0
			jmp 9
			lea -0x20(%rip),%r10
			mov %r10,0x3d0(%r15)
			jmp 999
			hlt %r`, false, ".......____...___..._"},
		{"a small method of C2", `[Entry Point] sub $0x18,%rsp
			mov %rbp,0x10(%rsp)
			mov %rsp,%rbp
			add $0x10,%rbp
			nop
			add $0x10,%rsp
			pop %rbp
			ret`, false, "....___."},
		{"APX", `nop
			ret
			pushp %rbp
			mov %rsp,%rbp
			nop
			popp %rbp
			ret`, true, "__..__."},
		{"an entry after the code", `push %rbp
			mov %rsp,%rbp
			leave
			ret
			mov %eax,-0x14000(%rsp)
			push %rbp
			mov %rsp,%rbp
			nop
			ret`, false, ".._....__"},
		{"a codelet of the interpreter", `mov (%r14),%eax
			add $0x8,%rsp
			jmp 999`, true, "___"},
		{"a return of the interpreter", `mov -0x8(%rbp),%rbx
			leave
			pop %rsi
			jmp 999`, true, "__.."},
		{"without x86's registers", `stp x29, x30, [sp, #-16]!
			mov x29, sp
			ret`, false, "___"},
		{"no code", "", false, ""},
	} {
		insts := instructions(c.text)
		got := ""
		without := Frameless(insts, c.framed)
		for i := range insts {
			if without[uint64(i)] {
				got += "."
			} else {
				got += "_"
			}
		}
		assert.Equal(t, c.want, got, c.what)
	}
}
