package amd64

import (
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
)

// The texts are those of objdump 2.47, which spells instructions of APX differently from older versions.

// TestREX2 checks legacy instructions with the registers r16 to r31, and the instructions that only exist with REX2.
func TestREX2(t *testing.T) {
	check := checker(t)
	check("d51901c0", "add    %rax,%r24", "add    r24,rax")
	check("d5768d7c2001", "lea    0x1(%r16,%r28,1),%r31d", "lea    r31d,[r16+r28*1+0x1]")
	check("d5c0afc0", "imul   %eax,%r16d", "imul   r16d,eax")
	check("d5919fc1", "setg   %r25b", "setg   r25b")
	check("d50001c0", "{rex2} add %eax,%eax", "{rex2} add eax,eax")
	check("d514f71424", "{rex2 0x14} notl (%r20)", "{rex2 0x14} not DWORD PTR [r20]")
	check("d510d1c0", "rol    $1,%r16d", "rol    r16d,1")
	check("d519b80102030405060708", "movabs $0x807060504030201,%r24", "movabs r24,0x807060504030201")
	check("64d5108b00", "mov    %fs:(%r16),%eax", "mov    eax,DWORD PTR fs:[r16]")
	check("f0d5100100", "lock add %eax,(%r16)", "lock add DWORD PTR [r16],eax")
	check("d50850", "pushp  %rax", "pushp  rax")
	check("d5195f", "popp   %r31", "popp   r31")
	check("d510ffe0", "jmp    *%r16", "jmp    r16")
	check("d518ffd0", "{rex2 0x18} call *%r16", "{rex2 0x18} call r16")
	check("d500a12143658709000000", "jmpabs $0x987654321", "jmpabs 0x987654321")
}

// TestPromoted checks instructions of the EVEX map 4: a third operand, and no change of the flags.
func TestPromoted(t *testing.T) {
	check := checker(t)
	check("62f47c0801d8", "{evex} add %ebx,%eax", "{evex} add eax,ebx")
	check("62f46c1801ca", "add    %ecx,%edx,%edx", "add    edx,edx,ecx")
	check("62f46c1c83c17b", "{nf} add $0x7b,%ecx,%edx", "{nf} add edx,ecx,0x7b")
	check("62d4b41c838480230100007b",
		"{nf} add $0x7b,0x123(%r8,%rax,4),%r9",
		"{nf} add r9,QWORD PTR [r8+rax*4+0x123],0x7b")
	check("62f4fc0cf7f1", "{nf} div %rcx", "{nf} div rcx")
	check("62f47c08d1c0", "{evex} rol $1,%eax", "{evex} rol eax,1")
	check("62f4441cd3e1", "{nf} shl %cl,%ecx,%edi", "{nf} shl edi,ecx,cl")
	check("62f46c1824ca05", "shld   $0x5,%ecx,%edx,%edx", "shld   edx,edx,ecx,0x5")
	check("62f47d1869c38223", "imulzu $0x2382,%bx,%ax", "imulzu ax,bx,0x2382")
	check("62f47c1cafc8", "{nf} imul %eax,%ecx,%eax", "{nf} imul eax,ecx,eax")
	check("62f4fc0cf5c8", "{nf} lzcnt %rax,%rcx", "{nf} lzcnt rcx,rax")
	check("62fc7c0888c8", "popcnt %r16d,%ecx", "popcnt ecx,r16d")
}

// TestConditional checks comparisons, moves and stores with a condition.
func TestConditional(t *testing.T) {
	check := checker(t)
	check("62d48c0283bc80230100007b",
		"ccmpbq {dfv=cf} $0x7b,0x123(%r8,%rax,4)",
		"ccmpb {dfv=cf} QWORD PTR [r8+rax*4+0x123],0x7b")
	check("62740d0239f8", "ccmpb {dfv=cf} %r15w,%ax", "ccmpb {dfv=cf} ax,r15w")
	check("62f4440a85d8", "ctestt {dfv=of} %ebx,%eax", "ctestt {dfv=of} eax,ebx")
	check("62f4040bf7c100010000", "ctestf {dfv=} $0x100,%ecx", "ctestf {dfv=} ecx,0x100")
	check("62f42c1842d1", "cmovb  %ecx,%edx,%r10d", "cmovb  r10d,edx,ecx")
	check("62f47c0842d1", "cfcmovb %ecx,%edx", "cfcmovb edx,ecx")
	check("62d47c0c428c8023010000", "cfcmovb %ecx,0x123(%r8,%rax,4)", "cfcmovb DWORD PTR [r8+rax*4+0x123],ecx")
	check("62f46c1c42ca", "cfcmovb %edx,%ecx,%edx", "cfcmovb edx,ecx,edx")
	check("62f47f1844c0", "setzue %al", "setzue al")
	check("62f47f0844c0", "{evex} sete %al", "{evex} sete al")
}

// TestPushTwo checks instructions that push or pop two registers.
func TestPushTwo(t *testing.T) {
	check := checker(t)
	check("62f47c18fff3", "push2  %rbx,%rax", "push2  rax,rbx")
	check("62d48410fff1", "push2p %r9,%r31", "push2p r31,r9")
	check("62f464188fc0", "pop2   %rax,%rbx", "pop2   rbx,rax")
	check("62dc84108fc0", "pop2p  %r24,%r31", "pop2p  r31,r24")
}

// TestPromotedVEX checks instructions on general and mask registers that APX has given an EVEX prefix.
func TestPromotedVEX(t *testing.T) {
	check := checker(t)
	check("62da6d00e6948723010000",
		"cmpbexadd %r18d,%edx,0x123(%r31,%rax,4)",
		"cmpbexadd DWORD PTR [r31+rax*4+0x123],edx,r18d")
	check("62d97d0890ac8723010000", "kmovb  0x123(%r31,%rax,4),%k5", "kmovb  k5,BYTE PTR [r31+rax*4+0x123]")
	check("62617d0893cd", "kmovb  %k5,%r25d", "kmovb  r25d,k5")
	check("62dac40cf2c8", "{nf} andn %r24,%rdi,%rcx", "{nf} andn rcx,rdi,r24")
	check("62627e08f7c8", "sarx   %eax,%eax,%r25d", "sarx   r25d,eax,eax")
	check("62f37f08f0c805", "{evex} rorx $0x5,%eax,%ecx", "{evex} rorx ecx,eax,0x5")
}

// TestVectorWithHighRegisters checks vector instructions with the registers r16 to r31.
func TestVectorWithHighRegisters(t *testing.T) {
	check := checker(t)
	check("62fb794819040801", "vextractf32x4 $0x1,%zmm0,(%r16,%r17,1)", "vextractf32x4 XMMWORD PTR [r16+r17*1],zmm0,0x1")
	check("62eb7d0817c401", "vextractps $0x1,%xmm16,%r20d", "vextractps r20d,xmm16,0x1")
	check("626997002af5", "vcvtsi2sd %r21,%xmm29,%xmm30", "vcvtsi2sd xmm30,xmm29,r21")
	check("6281fe1878fe", "vcvttss2usi {sae},%xmm30,%r23", "vcvttss2usi r23,xmm30{sae}")
	check("6225104758b4c500000010",
		"vaddph 0x10000000(%rbp,%r24,8),%zmm29,%zmm30{%k7}",
		"vaddph zmm30{k7},zmm29,ZMMWORD PTR [rbp+r24*8+0x10000000]")
	check("624d7c082f717f", "vcomish 0xfe(%r25),%xmm30", "vcomish xmm30,WORD PTR [r25+0xfe]")
	check("62d9fd086e5201", "vmovq  0x8(%r26),%xmm2", "vmovq  xmm2,QWORD PTR [r26+0x8]")
}

// TestAPXFlow checks the kinds and the targets of APX's jumps.
func TestAPXFlow(t *testing.T) {
	check := func(in string, kind asm.Kind, target uint64) {
		t.Helper()
		got := Decode(asm.ATT, disasmtest.Unhex(t, in), pc)
		if len(got) != 1 || got[0].Kind != kind || got[0].Target != target {
			t.Errorf("%s: got %+v, want kind %d and target %#x", in, got, kind, target)
		}
	}
	check("d500a12143658709000000", asm.Jump, 0x987654321)
	check("d510ffe0", asm.Jump, 0)
	check("d510ffd0", asm.Call, 0)
	check("d510ff10", asm.Call, 0)
	check("62f47c18fff3", asm.Plain, 0)
	check("62f46c1801ca", asm.Plain, 0)
}

// TestBadAPX checks prefixes of APX before opcodes that do not allow them, and bits that must be clear.
func TestBadAPX(t *testing.T) {
	for _, in := range []string{
		"d500700100",             // a short jump
		"d580800000",             // a long jump
		"d500e80000",             // a call
		"d500664500",             // a prefix after REX2
		"d508a10100000000000000", // jmpabs with W
		"66d500a101000000000000", // jmpabs with 66
		"d580380000",             // map 0F38
		"62fc7e0860c7",           // movbe with F3
		"62fc7d2860c7",           // the vector length is not 0
		"62fc7d0c60c7",           // movbe with NF
		"62f43c0801c7",           // vvvv is set, but not ND
		"62f45c188fc3",           // pop2 into the stack pointer
		"62d424188fc3",           // pop2 into a register twice
		"62f4641838c3",           // ccmp with ND
		"62f2f94191448cd0",       // a gather whose index has X4
		"62f3780801c0",           // a register operand with X4
	} {
		if got := Decode(asm.ATT, disasmtest.Unhex(t, in), pc); !got[0].Bad {
			t.Errorf("%s: got %q", in, disasmtest.Join(got))
		}
	}
}
