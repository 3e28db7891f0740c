package code

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

func TestName(t *testing.T) {
	insts := func(text string, kind disasm.Kind, target uint64) []printassembly.Instruction {
		return []printassembly.Instruction{{Lo: 0x7f00a000, Hi: 0x7f00a004, Text: "nop"},
			{Lo: 0x7f00a004, Hi: 0x7f00a008, Text: text, Kind: kind, Target: target},
			{Lo: 0x7f00a008, Hi: 0x7f00b000, Text: "ret"}}
	}
	check := func(want, text string) {
		t.Helper()
		assert.Equal(t, want, Name(insts(text, disasm.Plain, 0), 1))
	}
	check("vaddsd 0x10(%rsi,%rdi,8),%xmm0,%xmm0", "vaddsd 0x10(%rsi,%rdi,8),%xmm0,%xmm0")
	check("mov #(%rip),%rax", "mov    -0x2968f(%rip),%rax        # 0x7fae0142b528")
	check("add $0xfff,%eax", "add    $0xfff,%eax")
	check("movabs $#,%rax", "movabs $0x7f00aa,%rax")
	check("movk x8, ##, lsl #16", "movk\tx8, #0x7f10, lsl #16")
	check("ccmp x0, x1, #0x0, cc", "ccmp\tx0, x1, #0x0, cc  // cc = lo, ul, last")
	jump := func(want, text string, kind disasm.Kind, target uint64) {
		t.Helper()
		assert.Equal(t, want, Name(insts(text, kind, target), 1))
	}
	jump("jl -0x4", "jl     0x7f00a000", disasm.CondJump, 0x7f00a000)
	jump("jmp +0x14", "jmp    0x7f00a018", disasm.Jump, 0x7f00a018)
	jump("jmp +0x0", "jmp    0x7f00a004", disasm.Jump, 0x7f00a004)
	jump("call #", "call   0x7f000000", disasm.Call, 0x7f000000)
	jump("tbz x10, #0, +0x4", "tbz\tx10, #0, 0x7f00a008", disasm.CondJump, 0x7f00a008)
	jump("b.cc -0x4", "b.cc\t0x7f00a000  // b.lo, b.ul, b.last", disasm.CondJump, 0x7f00a000)
	parts := []printassembly.Instruction{{Text: "mov\tx8, #0x6390"}, {Text: "movk\tx8, #0x7f10, lsl #16"}}
	assert.Equal(t, "mov x8, ##", Name(parts, 0))
	embedded := []printassembly.Instruction{{Text: "cmp    $0x6c28,%r11d", Comments: []string{"{metadata({type array int})}"}}}
	assert.Equal(t, "cmp $#,%r11d", Name(embedded, 0), "no comment is in the name")
	hostile := "\x1b[2J\x00;é\n" + strings.Repeat("x", 1<<16)
	assert.Equal(t, "?[2J?;? "+strings.Repeat("x", maxName-8), Name(insts(hostile, disasm.Plain, 0), 1))
}

// TestNameElsewhere checks that names do not depend on the address of the code, whatever the bytes are.
func TestNameElsewhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, 1<<14)
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	decode := func(arch disasm.Arch, lo uint64) (insts []printassembly.Instruction) {
		decoded, err := disasm.Decode(arch, disasm.ATT, bytes, lo)
		require.NoError(t, err)
		for _, in := range decoded {
			insts = append(insts, printassembly.Instruction{Lo: in.Addr, Hi: in.Addr + uint64(in.Len), Text: in.Text,
				Kind: in.Kind, Target: in.Target})
		}
		return insts
	}
	for _, arch := range []disasm.Arch{disasm.AMD64, disasm.ARM64, disasm.PPC64LE, disasm.RISCV64, disasm.S390X,
		disasm.Loong64} {
		a, b := decode(arch, 0x7f1234561000), decode(arch, 0x7f0987652000)
		require.Len(t, b, len(a))
		differ := 0
		for i := range a {
			if a[i].Text != b[i].Text {
				differ++
			}
			name := Name(a, i)
			assert.Equal(t, name, Name(b, i), "%s", arch)
			assert.NotEmpty(t, name)
			assert.NotContains(t, name, "7f12", "%s", arch)
		}
		t.Logf("%s: %d instructions, %d with addresses", arch, len(a), differ)
	}
}
