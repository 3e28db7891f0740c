package xarch

import (
	"encoding/binary"
	"strings"

	"golang.org/x/arch/s390x/s390xasm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// S390X decodes z/Architecture code, which is big-endian.
func S390X(code []byte, pc uint64) []asm.Inst {
	return decode(code, pc, 2, nextS390X)
}

// s390xLen returns the length of an instruction. It depends only on the upper two bits of the first byte.
func s390xLen(first byte) int {
	return [4]int{2, 4, 4, 6}[first>>6]
}

func nextS390X(code []byte, pc uint64) asm.Inst {
	n := s390xLen(code[0])
	if n > len(code) {
		return asm.Inst{}
	}
	decoded, err := s390xasm.Decode(code[:n])
	if err != nil || decoded.Op == 0 {
		return asm.Inst{}
	}
	in := asm.Inst{Len: n, Text: closeParens(padMnemonic(s390xText(decoded, pc)))}
	in.Kind, in.Target = s390xFlow(code, pc)
	return in
}

// s390xText returns the text that s390xasm writes. The exception is vistr, for which s390xasm panics, because it looks
// for an operand that it has already removed. s390xText writes that text itself.
func s390xText(decoded s390xasm.Inst, pc uint64) string {
	if decoded.Op != s390xasm.VISTR {
		return s390xasm.GNUSyntax(decoded, pc)
	}
	v1, v2, m3, m5 := decoded.Args[0], decoded.Args[1], decoded.Args[2], decoded.Args[3]
	return "vistr " + v1.String(pc) + "," + v2.String(pc) + "," + m3.String(pc) + "," + m5.String(pc)
}

// closeParens corrects operands that have a length but no base register. s390xasm writes "82(200,,3688(%r13)" for
// them, which becomes "82(200),3688(%r13)".
func closeParens(text string) string {
	text = strings.ReplaceAll(text, ",,", "),")
	if cut, ok := strings.CutSuffix(text, ","); ok {
		text = cut + ")"
	}
	return text
}

// s390xFlow returns the kind of an instruction, and the target of a relative branch. The target is 0 for other
// instructions.
func s390xFlow(code []byte, pc uint64) (asm.Kind, uint64) {
	reg := code[1] & 15 // the register that holds the target; 0 means that there is no branch
	near := func() uint64 { return pc + uint64(int16(binary.BigEndian.Uint16(code[2:])))*2 }
	far := func() uint64 { return pc + uint64(int32(binary.BigEndian.Uint32(code[2:])))*2 }
	masked := func(target uint64) (asm.Kind, uint64) { // the mask has a bit for each condition code
		switch code[1] >> 4 {
		case 0:
			return asm.Plain, 0
		case 15:
			return asm.Jump, target
		}
		return asm.CondJump, target
	}
	switch code[0] {
	case 0x07: // bcr
		const r14 = 14
		switch kind, _ := masked(0); {
		case reg == 0:
			return asm.Plain, 0
		case kind == asm.Jump && reg == r14:
			return asm.Return, 0
		default:
			return kind, 0
		}
	case 0x47: // bc
		return masked(0)
	case 0x05, 0x0c, 0x0d: // balr, bassm, basr
		if reg != 0 {
			return asm.Call, 0
		}
	case 0x45, 0x4d: // bal, bas
		return asm.Call, 0
	case 0x0b: // bsm
		if reg != 0 {
			return asm.Jump, 0
		}
	case 0x06: // bctr
		if reg != 0 {
			return asm.CondJump, 0
		}
	case 0x46, 0x86, 0x87: // bct, bxh, bxle
		return asm.CondJump, 0
	case 0x84, 0x85: // brxh, brxle
		return asm.CondJump, near()
	case 0xa7:
		switch code[1] & 15 {
		case 4: // brc
			return masked(near())
		case 5: // bras
			return asm.Call, near()
		case 6, 7: // brct, brctg
			return asm.CondJump, near()
		}
	case 0xc0:
		switch code[1] & 15 {
		case 4: // brcl
			return masked(far())
		case 5: // brasl
			return asm.Call, far()
		}
	case 0xcc:
		if code[1]&15 == 6 { // brcth
			return asm.CondJump, far()
		}
	case 0xb9:
		if code[1] == 0x46 && code[3]&15 != 0 { // bctgr
			return asm.CondJump, 0
		}
	case 0xe3:
		switch code[5] {
		case 0x46: // bctg
			return asm.CondJump, 0
		case 0x47: // bic
			return masked(0)
		}
	case 0xeb:
		switch code[5] {
		case 0x44, 0x45: // bxhg, bxleg
			return asm.CondJump, 0
		}
	case 0xec:
		switch code[5] {
		case 0x44, 0x45, 0x64, 0x65, 0x76, 0x77, 0x7c, 0x7d, 0x7e, 0x7f: // brxhg, brxlg; compare and branch relative
			return asm.CondJump, near()
		case 0xe4, 0xe5, 0xf6, 0xf7, 0xfc, 0xfd, 0xfe, 0xff: // compare and branch, to an address in a register
			return asm.CondJump, 0
		}
	}
	return asm.Plain, 0
}
