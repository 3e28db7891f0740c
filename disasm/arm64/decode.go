// Package arm64 decodes AArch64 code with vectors, atomics, cryptography, and the part of SVE that HotSpot uses. The
// text is the same as that of GNU objdump 2.40 (Debian 12):
//
//	aarch64-linux-gnu-objdump -D -b binary -m aarch64 --adjust-vma=PC
//
// The comments are the same, too ("// #-1" after a mov). Only the symbols that objdump writes after addresses are
// missing. A word that is not an instruction becomes ".inst  0x03ad6d98 ; undefined".
//
// # Implementation
//
// golang.org/x/arch is not used: its package arm64asm does not know LSE, SHA-512 or SVE, and spells many instructions
// differently from objdump. Instead, this package has tables that say how each encoding is written. Each group of
// instructions has its own file (integer.go, memory.go, float.go, vector.go, scalable.go …). A row of a table looks
// like this:
//
//	{0x7f800000, 0x11000000, "add <Rd|SP>, <Rn|SP>, <imm12>"},
//
// The operands in angle brackets are explained in operand.go. The code that finds the row of an instruction and writes
// its text is in form.go.
package arm64

import (
	"encoding/binary"
	"strconv"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

const instLen = 4 // length of every instruction in bytes

// Decode decodes machine code. The address of its first byte is pc. Each word of code becomes one Inst, which is Bad if
// the word is not an instruction. If the last word is incomplete, each of its bytes becomes a Bad Inst.
func Decode(code []byte, pc uint64) []asm.Inst {
	const textPerInst = 24 // typical length of an instruction's text in compiled Java code
	index := allForms()
	insts := make([]asm.Inst, 0, len(code)/instLen+instLen-1)
	ends := make([]int, 0, cap(insts)) // ends of the instructions' texts
	buf := make([]byte, 0, cap(insts)*textPerInst)
	for len(code) > 0 {
		in := asm.Inst{Addr: pc, Len: instLen}
		if len(code) < instLen {
			in.Len, in.Bad = 1, true
			buf = asm.AppendHex(append(buf, ".byte "...), uint64(code[0]))
		} else {
			x := binary.LittleEndian.Uint32(code)
			var ok bool
			if buf, ok = index.print(buf, x, pc); ok {
				in.Kind, in.Target = flow(x, pc)
			} else {
				in.Bad = true
				buf = append(appendHex8(append(buf, ".inst  "...), x), " ; undefined"...)
			}
		}
		insts = append(insts, in)
		ends = append(ends, len(buf))
		code = code[in.Len:]
		pc += uint64(in.Len)
	}
	asm.SetTexts(insts, buf, ends)
	return insts
}

// flow returns the kind and the target of an instruction. The target is 0 unless the instruction is a jump or a call
// whose target is in the encoding.
func flow(x uint32, pc uint64) (asm.Kind, uint64) {
	switch {
	case x>>26 == 0b000101: // b
		return asm.Jump, pc + asm.Signed(x, 0, 26)*4
	case x>>26 == 0b100101: // bl
		return asm.Call, pc + asm.Signed(x, 0, 26)*4
	case x>>24 == 0x54: // b.cond
		if x>>1&7 == 7 { // al, nv
			return asm.Jump, pc + asm.Signed(x, 5, 19)*4
		}
		return asm.CondJump, pc + asm.Signed(x, 5, 19)*4
	case x>>25&0x3f == 0b011010: // cbz, cbnz
		return asm.CondJump, pc + asm.Signed(x, 5, 19)*4
	case x>>25&0x3f == 0b011011: // tbz, tbnz
		return asm.CondJump, pc + asm.Signed(x, 5, 14)*4
	case x>>25 == 0b1101011: // br, blr, ret, eret, and variants of them that check a signature
		switch x >> 21 & 7 {
		case 0:
			return asm.Jump, 0
		case 1:
			return asm.Call, 0
		case 2, 4: // ret, eret
			return asm.Return, 0
		}
	}
	return asm.Plain, 0
}

func appendInt(b []byte, v int) []byte { return strconv.AppendInt(b, int64(v), 10) }

// appendHex8 appends v as 0x and eight digits.
func appendHex8(b []byte, v uint32) []byte {
	b = append(b, "0x"...)
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[v>>shift&15])
	}
	return b
}
