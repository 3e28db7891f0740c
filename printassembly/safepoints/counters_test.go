package safepoints

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// assemble converts lines such as "mov %rax,%rbx ; {comment}" to instructions of one byte each.
func assemble(text string) (insts []printassembly.Instruction) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		code, note, _ := strings.Cut(line, ";")
		in := printassembly.Instruction{Lo: uint64(len(insts)), Hi: uint64(len(insts) + 1), Text: strings.TrimSpace(code)}
		switch name, _, _ := strings.Cut(in.Text, " "); {
		case name == "jmp" || name == "b":
			in.Kind = disasm.Jump
		case name[0] == 'j' || strings.HasPrefix(name, "b."):
			in.Kind = disasm.CondJump
		case name == "call" || name == "bl":
			in.Kind = disasm.Call
		case name == "ret":
			in.Kind = disasm.Return
		}
		if note = strings.TrimSpace(note); note != "" {
			in.Comments = []string{note}
		}
		insts = append(insts, in)
	}
	return insts
}

const (
	dataOfX = "; {metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}"
	dataOfY = "; {metadata(method data for {method} {0x00007f011b57d548} 'y' '()V' in 'p/C')}"
)

func TestCounters(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       string // one character per instruction: the letter of the method whose profile it updates, or a dot
	}{
		{"no profile", `
			mov 0x8(%rax),%ebx
			ret`, ""},
		{"a call's counter", `
			mov %rdx,%rsi
			movabs $0x7f1015d6ed70,%rax ` + dataOfX + `
			addq $0x1,0xd8(%rax)
			mov 0xc(%rsi),%eax`, ".xx."},
		{"the classes of receivers", `
			movabs $0x7f1015d6ed70,%rbx ` + dataOfX + `
			mov 0x8(%rsi),%esi
			cmp 0xe0(%rbx),%rsi
			jne 5
			addq $0x1,0xe8(%rbx)
			addq $0x1,0xd8(%rbx)
			mov %rdx,%rsi`, "xxxxxx."},
		{"the counter of calls of an inlined method, and its limit", `
			movabs $0x7f1015d6ed70,%rax ` + dataOfX + `
			mov 0x90(%rax),%edi
			add $0x2,%edi
			mov %edi,0x90(%rax)
			and $0x1ffffe,%edi
			test %edi,%edi
			je 100
			test %rdx,%rdx`, "xxxxxxx."},
		{"a comparison after a counter is not that of a limit", `
			movabs $0x7f1015d6ed70,%rax ` + dataOfX + `
			addq $0x1,0xd8(%rax)
			test %rdx,%rdx
			je 100`, "xx.."},
		{"a branch", `
			movabs $0x7f1015d6ed70,%rsi ` + dataOfX + `
			mov $0x238,%eax
			je 4
			mov $0x248,%eax
			mov (%rsi,%rax,1),%rcx
			lea 0x1(%rcx),%rcx
			mov %rcx,(%rsi,%rax,1)
			je 100`, "xxxxxxx."},
		{"another method's profile", `
			movabs $0x7f1015d6ed70,%rax ` + dataOfX + `
			addq $0x1,0xd8(%rax)
			movabs $0x7f1015d6ed78,%rax ` + dataOfY + `
			addq $0x1,0xd8(%rax)`, "xxyy"},
		{"another method's profile in another register", `
			movabs $0x7f1015d6ed70,%rax ` + dataOfX + `
			addq $0x1,0xd8(%rax)
			movabs $0x7f1015d6ed78,%rbx ` + dataOfY + `
			addq $0x1,0xd8(%rbx)
			mov 0x8(%rax),%ecx`, "xxyy."},
		{"the register has another value", `
			movabs $0x7f1015d6ed70,%rax ` + dataOfX + `
			addq $0x1,0xd8(%rax)
			mov %rdx,%rbx
			mov %rdx,%rax
			mov 0x8(%rax),%ebx`, "xx..."},
		{"a call", `
			movabs $0x7f1015d6ed70,%rbx ` + dataOfX + `
			addq $0x1,0xd8(%rbx)
			call 100
			mov 0x8(%rbx),%eax`, "xx.."},
		{"Intel's syntax", `
			movabs rax,0x7f1015d6ed70 ` + dataOfX + `
			add qword ptr [rax+0xd8],0x1
			mov eax,dword ptr [rsi+0xc]`, "xx."},
		{"aarch64", `
			mov x10, #0xed70 ` + dataOfX + `
			movk x10, #0x15d6, lsl #16
			movk x10, #0x7f10, lsl #32
			ldr x8, [x10, #216]
			add x8, x8, #1
			str x8, [x10, #216]
			ldr w1, [x2, #12]`, "xxxxxx."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			for _, m := range Counters(assemble(c.code)) {
				got.WriteString(strings.TrimPrefix(m, "p.C::"))
				if m == "" {
					got.WriteByte('.')
				}
			}
			assert.Equal(t, c.want, got.String())
		})
	}
}

func TestRegisterFamily(t *testing.T) {
	for register, want := range map[string]string{
		"%rax": "ax", "%eax": "ax", "rsi": "si", "esi": "si", "%r10": "r10", "%r10d": "r10", "%r8b": "r8", "x1": "x1",
		"w1":   "x1",
		"$0x1": "", "0x8(%rax)": "", "[x1": "", "#1": "", "": "",
	} {
		assert.Equal(t, want, family(register), register)
	}
}
