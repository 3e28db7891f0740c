package disasm

import "golang.org/x/arch/loong64/loong64asm"

// decodeLoong64 decodes LoongArch code.
func decodeLoong64(_ Syntax, code []byte, pc uint64) []Inst {
	return decodeXArch(code, pc, 4, nextLoong64)
}

func nextLoong64(code []byte, pc uint64) Inst {
	decoded, err := loong64asm.Decode(code)
	if err != nil {
		return Inst{}
	}
	in := Inst{Len: 4, Text: padMnemonic(loong64asm.GNUSyntax(decoded))}
	in.Kind, in.Target = loong64Flow(decoded.Enc, pc)
	in.Text = showTarget(in.Text, in.Target)
	return in
}

// loong64Flow returns the kind and the target of an instruction.
func loong64Flow(x uint32, pc uint64) (Kind, uint64) {
	const ra = 1
	rd, rj, low := bits(x, 0, 5), bits(x, 5, 5), bits(x, 10, 16)
	switch op := x >> 26; op {
	case 0x10, 0x11, 0x12: // beqz, bnez, bceqz and bcnez
		return CondJump, pc + signed(bits(x, 0, 5)<<16|low, 0, 21)*4
	case 0x13: // jirl
		switch {
		case rd != 0:
			return Call, 0
		case rj == ra && low == 0:
			return Return, 0
		}
		return Jump, 0
	case 0x14: // b
		return Jump, pc + signed(bits(x, 0, 10)<<16|low, 0, 26)*4
	case 0x15: // bl
		return Call, pc + signed(bits(x, 0, 10)<<16|low, 0, 26)*4
	case 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b: // beq to bgeu
		return CondJump, pc + signed(low, 0, 16)*4
	}
	return Plain, 0
}
