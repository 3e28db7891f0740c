package xarch

import (
	"encoding/binary"
	"strings"

	"golang.org/x/arch/riscv64/riscv64asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// RISCV64 decodes RV64GCV code.
func RISCV64(code []byte, pc uint64) []asm.Inst {
	return decode(code, pc, 2, nextRISCV64)
}

func nextRISCV64(code []byte, pc uint64) asm.Inst {
	decoded, err := riscv64asm.Decode(code)
	if err != nil || decoded.Enc == 0 { // zeros are defined to be an illegal instruction
		return asm.Inst{}
	}
	in := asm.Inst{Len: decoded.Len, Text: padMnemonic(riscv64asm.GNUSyntax(decoded))}
	if strings.Contains(in.Text, ",,") { // vsetvli with a reserved element width
		return asm.Inst{}
	}
	if in.Len == 2 {
		in.Kind, in.Target = riscv64FlowShort(decoded.Enc, pc)
	} else {
		in.Kind, in.Target = riscv64Flow(binary.LittleEndian.Uint32(code), pc)
	}
	in.Text = showTarget(abiNames(in.Text), in.Target)
	return in
}

// riscv64ABI are the names of the registers in the ABI, by letter and number.
var riscv64ABI = map[byte][32]string{
	'x': {
		"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
		"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
	},
	'f': {
		"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
		"fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11",
		"ft8", "ft9", "ft10", "ft11",
	},
}

// abiNames replaces each register's number with its name in the ABI, as objdump does: x10 becomes a0. A register is
// recognized by the blank, comma or parenthesis before it.
func abiNames(text string) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		names, ok := riscv64ABI[text[i]]
		if !ok || i == 0 || !strings.ContainsRune(" ,(", rune(text[i-1])) {
			out = append(out, text[i])
			continue
		}
		number, end := 0, i+1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			number = number*10 + int(text[end]-'0')
			end++
		}
		if end == i+1 || number >= len(names) {
			out = append(out, text[i])
			continue
		}
		out = append(out, names[number]...)
		i = end - 1
	}
	return string(out)
}

// riscv64Link reports whether a register is one of the two that hold return addresses by convention: ra and t0.
func riscv64Link(reg uint32) bool { return reg == 1 || reg == 5 }

// riscv64Flow returns the kind of a 32-bit instruction, and the target of a direct branch. The target is 0 for other
// instructions.
func riscv64Flow(x uint32, pc uint64) (asm.Kind, uint64) {
	rd, rs1 := asm.Bits(x, 7, 5), asm.Bits(x, 15, 5)
	switch x & 0x7f {
	case 0x63: // branch
		imm := asm.Bits(x, 31, 1)<<12 | asm.Bits(x, 7, 1)<<11 | asm.Bits(x, 25, 6)<<5 | asm.Bits(x, 8, 4)<<1
		return asm.CondJump, pc + asm.Signed(imm, 0, 13)
	case 0x6f: // jal
		imm := asm.Bits(x, 31, 1)<<20 | asm.Bits(x, 12, 8)<<12 | asm.Bits(x, 20, 1)<<11 | asm.Bits(x, 21, 10)<<1
		if rd == 0 {
			return asm.Jump, pc + asm.Signed(imm, 0, 21)
		}
		return asm.Call, pc + asm.Signed(imm, 0, 21)
	case 0x67: // jalr
		switch {
		case rd != 0:
			return asm.Call, 0
		case riscv64Link(rs1):
			return asm.Return, 0
		}
		return asm.Jump, 0
	}
	return asm.Plain, 0
}

// riscv64FlowShort is like riscv64Flow for a compressed instruction, which has 16 bits.
func riscv64FlowShort(x uint32, pc uint64) (asm.Kind, uint64) {
	rs1, rs2 := asm.Bits(x, 7, 5), asm.Bits(x, 2, 5)
	switch x>>13<<2&0x1c | x&3 {
	case 0b101_01: // c.j
		imm := asm.Bits(x, 12, 1)<<11 | asm.Bits(x, 8, 1)<<10 | asm.Bits(x, 9, 2)<<8 | asm.Bits(x, 6, 1)<<7 |
			asm.Bits(x, 7, 1)<<6 | asm.Bits(x, 2, 1)<<5 | asm.Bits(x, 11, 1)<<4 | asm.Bits(x, 3, 3)<<1
		return asm.Jump, pc + asm.Signed(imm, 0, 12)
	case 0b110_01, 0b111_01: // c.beqz, c.bnez
		imm := asm.Bits(x, 12, 1)<<8 | asm.Bits(x, 5, 2)<<6 | asm.Bits(x, 2, 1)<<5 | asm.Bits(x, 10, 2)<<3 |
			asm.Bits(x, 3, 2)<<1
		return asm.CondJump, pc + asm.Signed(imm, 0, 9)
	case 0b100_10: // c.jr, c.jalr, and others that have a second register
		switch {
		case rs2 != 0 || rs1 == 0:
		case x>>12&1 != 0:
			return asm.Call, 0
		case riscv64Link(rs1):
			return asm.Return, 0
		default:
			return asm.Jump, 0
		}
	}
	return asm.Plain, 0
}
