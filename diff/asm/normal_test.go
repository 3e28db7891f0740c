package asm

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNormalise(t *testing.T) {
	check := func(in Raw, text, shape string) {
		t.Helper()
		in.Addr = 0x7f1000001000
		l := in.normal(false)
		assert.Equal(t, []string{text, shape}, []string{l.Text, l.shape}, in.Text)
	}
	check(Raw{Text: "mov    %eax,-0x14000(%rsp)"}, "mov %eax,-0x14000(%rsp)", "mov %32,<slot>")
	check(Raw{Text: "add %r11d,%eax"}, "add %r11d,%eax", "add %32,%32")
	check(Raw{Text: "add %r11,%rax"}, "add %r11,%rax", "add %64,%64")
	check(Raw{Text: "mov %bl,(%r10,%rsi,1)"}, "mov %bl,(%r10,%rsi,1)", "mov %8,(%64,%64,1)")
	check(Raw{Text: "vpaddd %ymm0,%ymm12,%ymm4{%k1}"}, "vpaddd %ymm0,%ymm12,%ymm4{%k1}", "vpaddd %ymm,%ymm,%ymm{%k}")
	check(Raw{Text: "vmulsd 0x160de7ed(%rip),%xmm7,%xmm7        # 0x7fae1ea188f8"}, "vmulsd <const>(%rip),%xmm7,%xmm7",
		"vmulsd <const>(%rip),%xmm,%xmm")
	check(Raw{Text: "vmulsd xmm7,xmm7,[rip+0x160de7ed]"}, "vmulsd xmm7,xmm7,<const>(%rip)",
		"vmulsd %xmm,%xmm,<const>(%rip)")
	// Addresses in the process are replaced. The program's own constants are kept.
	check(Raw{Text: "movabs $0x7f1b2c000000,%r10"}, "movabs $<addr>,%r10", "movabs $<addr>,%64")
	check(Raw{Text: "movabs $0x9e3779b97f4a7c15,%r10"}, "movabs $0x9e3779b97f4a7c15,%r10",
		"movabs $0x9e3779b97f4a7c15,%64")
	check(Raw{Text: "imul $0x19660d,%eax,%eax"}, "imul $0x19660d,%eax,%eax", "imul $0x19660d,%32,%32")
	check(Raw{Text: "cmpl $0xc38e8,0x8(%rsi)", Comments: []string{"{metadata('Foo')}"}}, "cmpl $<metadata>,0x8(%rsi)",
		"cmpl $<metadata>,0x8(%64)")
	check(Raw{Text: "movabs $0x716e01a58,%r8", Comments: []string{" {oop(a 'java/lang/Class')}"}}, "movabs $<oop>,%r8",
		"movabs $<oop>,%64")
	// Branches.
	check(Raw{Text: "jl     0x00007f1000000ff0"}, "jl <up>", "jl <up>")
	check(Raw{Text: "jae 0x7f1000001100"}, "jae <down>", "jae <down>")
	check(Raw{Text: "call 0x7f1000000100"}, "call <addr>", "call <addr>")
	check(Raw{Text: "call 0x7f0f00000100", Target: "Workload::area"}, "call <Workload::area>", "call <Workload::area>")
	check(Raw{Text: "jmp 0x7f1123456789"}, "jmp <addr>", "jmp <addr>")
	check(Raw{Text: "tbz x10, #0, 0x00007f1000001010"}, "tbz x10, #0, <down>", "tbz %x, #0, <down>")
	check(Raw{Text: "b.lt 0x00007f1000000f00  // b.tstop"}, "b.lt <up>", "b.lt <up>")
	check(Raw{Text: "ldr w11, [x10, #16]"}, "ldr w11, [x10, #16]", "ldr %w, [%x, #16]")
	check(Raw{Text: "movk x8, #0x7f10, lsl #32"}, "movk x8, <part>", "movk %x, <part>")
	// Padding.
	check(Raw{Text: "nop"}, "nop", "nop")
	check(Raw{Text: "nopw 0x0(%rax,%rax,1)"}, "nop", "nop")
	check(Raw{Text: "data16 data16 nopw 0x0(%rax,%rax,1)"}, "nop", "nop")
	check(Raw{Text: "xchg %ax,%ax"}, "nop", "nop")
	check(Raw{Text: "nopl (%rax)"}, "nop", "nop")
	check(Raw{Text: "data16 xchg %ax,%ax"}, "nop", "nop")
}

func TestNormaliseTogether(t *testing.T) {
	lines := code(0x1000, "2 nop", "3 nopl (%rax)", "mov x8, #0x6390", "movk x8, #0x7f10, lsl #16", "1 jl 0x7f1000001000")
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.Text)
	}
	assert.Equal(t, []string{"nop", "mov x8, <part>", "movk x8, <part>", "jl <addr>"}, texts)
	assert.EqualValues(t, 5, lines[0].Count, "padding keeps its samples")
}
