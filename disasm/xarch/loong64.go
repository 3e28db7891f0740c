package xarch

import (
	"golang.org/x/arch/loong64/loong64asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// Loong64 decodes LoongArch code.
func Loong64(code []byte, pc uint64) []asm.Inst {
	return decode(code, pc, 4, nextLoong64)
}

func nextLoong64(code []byte, pc uint64) asm.Inst {
	decoded, err := loong64asm.Decode(code)
	if err != nil {
		return asm.Inst{}
	}
	in := asm.Inst{Len: 4, Text: padMnemonic(loong64asm.GNUSyntax(decoded))}
	in.Kind, in.Target = loong64Flow(decoded.Enc, pc)
	in.Text = showTarget(in.Text, in.Target)
	return in
}

// loong64Flow returns the kind of an instruction, and the target of a direct branch. The target is 0 for other
// instructions.
func loong64Flow(x uint32, pc uint64) (asm.Kind, uint64) {
	const ra = 1
	rd, rj, low := asm.Bits(x, 0, 5), asm.Bits(x, 5, 5), asm.Bits(x, 10, 16)
	switch op := x >> 26; op {
	case 0x10, 0x11, 0x12: // beqz, bnez, bceqz and bcnez
		return asm.CondJump, pc + asm.Signed(asm.Bits(x, 0, 5)<<16|low, 0, 21)*4
	case 0x13: // jirl
		switch {
		case rd != 0:
			return asm.Call, 0
		case rj == ra && low == 0:
			return asm.Return, 0
		}
		return asm.Jump, 0
	case 0x14: // b
		return asm.Jump, pc + asm.Signed(asm.Bits(x, 0, 10)<<16|low, 0, 26)*4
	case 0x15: // bl
		return asm.Call, pc + asm.Signed(asm.Bits(x, 0, 10)<<16|low, 0, 26)*4
	case 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b: // beq to bgeu
		return asm.CondJump, pc + asm.Signed(low, 0, 16)*4
	}
	return asm.Plain, 0
}
