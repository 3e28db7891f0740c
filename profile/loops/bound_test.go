package loops

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each source is a loop that begins at top.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ name, source, limit string }{
		{"counter", "top:\n inc %eax\n cmp %ebx,%eax\n jl top",
			"no faster than 1 cycle a round (0.2 on Zen 5 and Golden Cove): 2 instructions; the longest chain takes 1 cycle"},
		{"large constant", "top:\n add $0x12345,%eax\n cmp %ebx,%eax\n jl top",
			"no faster than 1 cycle a round: 2 instructions; the longest chain takes 1 cycle"},
		{"no carried value", "top:\n mov (%rsi),%eax\n mov %eax,(%rdi)\n jmp top",
			"no faster than 0.5 cycles a round: 1 store; no chain"},
		{"loads", "top:\n mov 0x10(%rax),%rax\n test %rax,%rax\n jne top",
			"no faster than 4 cycles a round: a chain of 1 load; ports would allow 0.2 cycles"},
		{"loads, Intel", "top:\n mov rax,QWORD PTR [rax+0x10]\n test rax,rax\n jne top",
			"no faster than 4 cycles a round: a chain of 1 load; ports would allow 0.2 cycles"},
		{"through memory", "top:\n mov 0x8(%rsp),%eax\n imul %ebx,%eax\n mov %eax,0x8(%rsp)\n jmp top",
			"no faster than 0.5 cycles a round: 4 instructions; no chain"},
		{"cleared", "top:\n xor %eax,%eax\n add %ebx,%eax\n imul %ecx,%eax\n jmp top",
			"no faster than 0.5 cycles a round: 4 instructions; no chain"},
		{"copied over", "top:\n imul %ecx,%eax\n mov %edx,%eax\n jmp top",
			"no faster than 0.3 cycles a round: 3 instructions; no chain"},
		{"two registers", "top:\n mov %eax,%ecx\n mov %ebx,%eax\n imul $0x7,%ecx,%ebx\n jmp top",
			"no faster than 1.5 cycles a round: a chain of 1 imul; ports would allow 0.5 cycles"},
		{"carry", "top:\n adc (%rsi),%eax\n mov $0x0,%eax\n jmp top",
			"no faster than 1 cycle a round: 3 instructions; the longest chain takes 1 cycle"},
		{"no carry through inc", "top:\n adc $0x5,%eax\n mov $0x0,%eax\n add %edx,%ebx\n inc %ecx\n jmp top",
			"no faster than 1 cycle a round: 5 instructions; the longest chain takes 1 cycle"},
		{"conditional move", "top:\n mov (%rsi),%eax\n add $0x4,%rsi\n cmp %eax,%ebx\n cmovl %eax,%ebx\n jmp top",
			"no faster than 2 cycles a round: a chain of 1 cmp and 1 cmovl; ports would allow 0.6 cycles"},
		{"mul", "top:\n mul %rbx\n jmp top", "no faster than 3 cycles a round: a chain of 1 mul; ports would allow 0.3 cycles"},
		{"mul of a byte", "top:\n mul %bl\n jmp top", "no bound: gasm does not know how long mul takes"},
		{"lock", "top:\n lock xadd %eax,(%rbx)\n jmp top", "no faster than 0.5 cycles a round: 1 store; no chain"},
		{"high byte", "top:\n add %ah,%al\n imul %ecx,%eax\n jmp top",
			"no faster than 0.3 cycles a round: 3 instructions; no chain"},
		{"fma", "top:\n vfmadd231pd (%rsi),%ymm1,%ymm0\n jmp top",
			"no faster than 4 cycles a round: a chain of 1 vfmadd231pd; ports would allow 0.5 cycles"},
		{"fma of other registers", "top:\n vfmadd231pd %ymm1,%ymm2,%ymm0\n vmovapd %ymm0,%ymm2\n vxorpd %ymm0,%ymm0,%ymm0\n jmp top", "no faster than 4 cycles a round: a chain of 1 vfmadd231pd; ports would allow 0.5 cycles"},
		{"two chains", "top:\n vaddsd %xmm1,%xmm0,%xmm0\n vmulsd %xmm2,%xmm3,%xmm3\n vmulsd %xmm2,%xmm3,%xmm3\n jmp top",
			"no faster than 6 cycles a round: a chain of 2 vmulsd; ports would allow 1 cycle"},
		{"many adds", "top:\n vaddsd (%rsi),%xmm0,%xmm0\n vaddsd (%rsi),%xmm1,%xmm1\n vaddsd (%rsi),%xmm2,%xmm2\n vaddsd (%rsi),%xmm3,%xmm3\n vaddsd (%rsi),%xmm4,%xmm4\n vaddsd (%rsi),%xmm5,%xmm5\n vaddsd (%rsi),%xmm6,%xmm6\n vaddsd (%rsi),%xmm7,%xmm7\n jmp top",
			"no faster than 4 cycles a round: 8 floating-point additions; the longest chain takes 3 cycles"},
		{"sse", "top:\n addsd (%rsi),%xmm0\n pxor %xmm1,%xmm1\n paddd %xmm2,%xmm3\n jmp top",
			"no faster than 3 cycles a round (2 on Zen 5 and Golden Cove): a chain of 1 addsd; ports would allow 0.5 cycles"},
		{"unknown", "top:\n frobnicate %eax\n jmp top", "no bound: gasm does not know how long frobnicate takes"},
		{"string", "top:\n rep stos %al,%es:(%rdi)\n jmp top", "no bound: gasm does not know how long rep stos takes"},
		{"call", "top:\n imul %ebx,%eax\n call 0x99999\n jmp top", "no bound: it calls other code"},
		{"call on each path", "top:\n imul %ebx,%eax\n test %eax,%eax\n je else\n call 0x99999\n jmp top\nelse:\n call 0x88888\n jmp top", "no bound: it calls other code"},
		{"call beside the path", "top:\n imul %ebx,%eax\n test %eax,%eax\n je slow\nback:\n jmp top\nslow:\n call 0x88888\n jmp back", "on its usual path, no faster than 3 cycles a round: a chain of 1 imul; ports would allow 0.3 cycles"},
		{"faster path", "top:\n test %ecx,%ecx\n je fast\n imul %ebx,%eax\n imul %ebx,%eax\n jmp top\nfast:\n imul %ebx,%eax\n jmp top", "no faster than 3 cycles a round: a chain of 1 imul; ports would allow 0.3 cycles"},
		{"path without the chain", "top:\n test %ecx,%ecx\n je fast\n imul %ebx,%eax\n jmp top\nfast:\n mov %edx,%eax\n jmp top", "no faster than 0.3 cycles a round: 3 instructions; no chain"},
		{"other register on each path",
			"top:\n test %ecx,%ecx\n je other\n imul %ebx,%eax\n imul %ebx,%eax\n jmp top\nother:\n imul %ebx,%edx\n imul %ebx,%edx\n jmp top", "no faster than 0.6 cycles a round: 2 multiplications; no chain"},
		{"rare path", "top:\n 500 test %ecx,%ecx\n je fast\n 300 imul %ebx,%eax\n jmp top\nfast:\n mov %edx,%eax\n jmp top",
			"on its usual path, no faster than 3 cycles a round: a chain of 1 imul; ports would allow 0.3 cycles"},
		{"too few samples", "top:\n 5 test %ecx,%ecx\n je fast\n 30 imul %ebx,%eax\n jmp top\nfast:\n mov %edx,%eax\n jmp top", "no faster than 0.3 cycles a round: 3 instructions; no chain"},
		{"unknown, but rare", "top:\n 500 test %ecx,%ecx\n je fast\n 300 imul %ebx,%eax\n jmp top\nfast:\n cpuid\n jmp top",
			"on its usual path, no faster than 3 cycles a round: a chain of 1 imul; ports would allow 0.3 cycles"},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts := describe(assemble(c.source))
			require.Len(t, facts, 1)
			assert.Equal(t, c.limit, facts[0].Limit())
		})
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ name, source, words string }{
		{"copy", "top:\n vmovdqu (%rsi,%rax,1),%ymm0\n vmovdqu %ymm0,(%rdi,%rax,1)\n add $0x20,%rax\n jl top",
			"vectors of 256 bits (ymm), no range checks, polls, calls or spills"},
		{"copy in Intel's syntax", "top:\n vmovdqu zmm0,ZMMWORD PTR [rsi+rax*1]\n vmovdqu ZMMWORD PTR [rdi+rax*1],zmm0\n jmp top", "vectors of 512 bits (zmm), no range checks, polls, calls or spills"},
		{"xmm of integers", "top:\n vpaddd %xmm1,%xmm0,%xmm0\n jmp top",
			"vectors of 128 bits, no range checks, polls, calls or spills"},
		{"spill to a vector register", "top:\n vmovq %xmm1,%rax\n vmovd %ecx,%xmm2\n jmp top",
			"scalar, no range checks, polls, calls or spills"},
		{"zeroed vector", "top:\n vpxor %xmm1,%xmm1,%xmm1\n add %eax,%ebx\n jmp top",
			"scalar, no range checks, polls, calls or spills"},
		{"scalar", "top:\n vmulss %xmm1,%xmm0,%xmm0\n jmp top",
			"scalar floating point, no range checks, polls, calls or spills"},
		{"spills", "top:\n mov 0x8(%rsp),%eax\n add 0x10(%rsp),%eax\n mov %eax,0x18(%rsp)\n lea 0x8(%rsp),%rbx\n jmp top",
			"scalar, 1 spill, 2 reloads, no range checks, polls or calls"},
		{"counter", "top:\n add %ebx,%eax\n inc %ecx\n cmp %edx,%ecx\n jl top",
			"scalar, not unrolled, no range checks, polls, calls or spills"},
		{"poll", "top:\n test %eax,(%r10) ;{poll}\n call 0x99999\n jmp top",
			"scalar, 1 poll, 1 call, no range checks or spills"},
		{"range check", "top:\n cmp %eax,%ebx\n jae out\n cmp %ecx,%ebx\n ja other\n jmp top\nout:\n mov $0xffffffe4,%esi\n call 0x99999 ;{runtime_call UncommonTrapBlob}\nother:\n ret", "scalar, 1 range check, no polls, calls or spills"},
		{"aarch64", "top:\n ldr q0, [x1]\n add v0.4s, v0.4s, v1.4s\n ldr x3, [sp, #16]\n cmp w3, w4\n b.cs out\n subs x2, x2, #1\n b.ne top\nout:\n bl 0x99999 ;{runtime_call UncommonTrapBlob}", "vectors of 128 bits, 1 range check, 1 reload, no polls or calls"},
		{"stack pointer of aarch64", "top:\n add sp, sp, #16\n ld1 {v0.16b}, [x1]\n subs x2, x2, #1\n b.ne top",
			"vectors of 128 bits, no range checks, polls, calls or spills"},
		{"another instruction set", "top:\n addi r8,r8,1\n bdnz top\n jmp top", "0 polls, 0 calls"},
		{"sve", "top:\n add z0.s, z0.s, z1.s\n subs x2, x2, #1\n b.ne top",
			"vectors of SVE, no range checks, polls, calls or spills"},
		{"aarch64 scalar", "top:\n fadd d0, d0, d1\n str x3, [sp, #16]\n subs x2, x2, #1\n b.ne top",
			"scalar floating point, 1 spill, no range checks, polls or calls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts := describe(assemble(c.source))
			require.Len(t, facts, 1)
			assert.Equal(t, c.words, facts[0].Words())
		})
	}
}
