package exec

import (
	"encoding/hex"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/asm"
)

// apxReadOnly are instructions that do not write their first operand.
var apxReadOnly = regexp.MustCompile(`^(ccmp|ctest|push|pop2|i?mul|i?div|inv|enq|movdir64b|wrmsrns|uwrmsr|xlat)`)

// TestAPXWrites compares what instructions of APX write with the first operand that disasm/amd64 prints.
func TestAPXWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	starts := []string{"d519", "d576", "62f47c08", "62f4ec1c", "62dcb410", "62bcf408", "62f47f18", "62e2ec08", "62d26d00"}
	found := 0
	for i := range 40_000 {
		code, err := hex.DecodeString(starts[i%len(starts)])
		require.NoError(t, err)
		for len(code) < 24 {
			code = append(code, byte(random.Uint32()))
		}
		text := amd64.Decode(asm.Intel, code, 0x1000)[0]
		op, operands := withoutMarks(text.Text)
		if text.Bad || apxReadOnly.MatchString(op) && (!strings.Contains(operands, ",") || !strings.HasPrefix(op, "imul")) ||
			code[0] == prefixREX2 && (readOnly.MatchString(op) || implied.MatchString(op)) || strings.HasPrefix(op, "set") {
			continue
		}
		first, _, _ := strings.Cut(operands, ",")
		in := decode(code)
		r, ok := general(first)
		switch {
		case ok && r < tracked:
			found++
			wrote := in.writes>>r&1 != 0 || in.op != opOther && in.op != opStore && in.op != opPush && in.dst == r
			assert.True(t, wrote || in.op == opSwap && in.src == r, "% x: %s", code[:text.Len], text.Text)
		case strings.HasSuffix(first, "]"):
			found++
			assert.True(t, in.store != 0 || in.op == opStore || in.op == opSwapMem || in.op == opDrop || in.op == opPop,
				"% x: %s", code[:text.Len], text.Text)
		}
	}
	assert.Greater(t, found, 3000)
}

// withoutMarks returns the mnemonic and the operands of an instruction, without prefixes and marks such as {nf}.
func withoutMarks(text string) (op, operands string) {
	words := strings.Fields(text)
	for len(words) > 1 && (strings.ContainsAny(words[0], "{}") || strings.Contains(prefixWords, " "+words[0]+" ")) {
		words = words[1:]
	}
	return words[0], strings.Join(words[1:], " ")
}

// TestAPXOperations checks how instructions of APX change the stack pointer and move values.
func TestAPXOperations(t *testing.T) {
	check := func(want inst, code string) {
		t.Helper()
		b, err := hex.DecodeString(code)
		require.NoError(t, err)
		got := decode(b)
		assert.EqualValues(t, len(b), got.len, code)
		got.len = 0
		assert.Equal(t, want, got, code)
	}
	none := memory{base: noReg}
	check(inst{op: opPush, src: rbp, mem: none}, "d50855")                                // pushp %rbp
	check(inst{op: opPop, dst: rbp, mem: none}, "d5085d")                                 // popp %rbp
	check(inst{op: opPushOther, src: 16, mem: none}, "d51850")                            // pushp %r16
	check(inst{op: opDrop, dst: 31, mem: none}, "d5195f")                                 // popp %r31
	check(inst{op: opPush2, mem: none}, "62f45418fff3")                                   // push2 %rbx,%rbp
	check(inst{op: opPop2, writes: 1<<rbx | 1<<rbp, mem: none}, "62f454188fc3")           // pop2 %rbx,%rbp
	check(inst{op: opAdd, dst: rsp, imm: -16, mem: none}, "62f4fc0883ec10")               // {evex} sub $0x10,%rsp
	check(inst{op: opLea, dst: rsp, mem: memory{base: rsp, disp: -16}}, "62f4dc1883ec10") // sub $0x10,%rsp,%rsp
	check(inst{op: opLea, dst: rax, mem: memory{base: rsp, disp: 8}}, "62f4fc1c83c408")   // {nf} add $8,%rsp,%rax
	check(inst{op: opAlign, dst: rbp, src: rsp, imm: -16, mem: none}, "62f4d41883e4f0")   // and $-16,%rsp,%rbp
	check(inst{op: opLea, dst: rax, mem: memory{base: noReg, disp: 8}}, "62fcfc1883c008") // add $8,%r16,%rax
	check(inst{op: opLoad, dst: rax, mem: none}, "d5188b00")                              // mov (%r16),%rax
	check(inst{op: opOther, dst: 16, mem: memory{base: rsp}}, "d5488b0424")               // mov (%rsp),%r16
	check(inst{src: 16, store: 8, mem: memory{base: rsp, disp: 8}}, "d54889442408")       // mov %r16,0x8(%rsp)
	check(inst{writes: 1 << rsp, dst: rsp, src: 16, mem: none}, "d54889c4")               // mov %r16,%rsp
	check(inst{op: opJumpOther, mem: none}, "d500a12143658709000000")                     // jmpabs
	check(inst{writes: 1 << rcx, mem: none}, "62f4741801d8")                              // add %ebx,%eax,%ecx
}
