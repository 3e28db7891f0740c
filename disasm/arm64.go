package disasm

import (
	"encoding/binary"
	"strconv"
)

const arm64Len = 4 // length of every instruction in bytes

// decodeARM64 decodes AArch64 code. All texts are parts of one string, as in decodeAMD64.
func decodeARM64(_ Syntax, code []byte, pc uint64) []Inst {
	const textPerInst = 24 // a typical value of compiled Java code
	forms := arm64Forms()
	insts := make([]Inst, 0, len(code)/arm64Len+arm64Len-1)
	ends := make([]int, 0, cap(insts)) // ends of the instructions' texts
	buf := make([]byte, 0, cap(insts)*textPerInst)
	for len(code) > 0 {
		in := Inst{Addr: pc, Len: arm64Len}
		if len(code) < arm64Len {
			in.Len, in.Bad = 1, true
			buf = appendHex(append(buf, ".byte "...), uint64(code[0]))
		} else {
			x := binary.LittleEndian.Uint32(code)
			var ok bool
			if buf, ok = forms.print(buf, x, pc); ok {
				in.Kind, in.Target = arm64Flow(x, pc)
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
	text, start := string(buf), 0
	for i, end := range ends {
		insts[i].Text = text[start:end]
		start = end
	}
	return insts
}

// arm64Flow returns the kind and the target of an instruction.
func arm64Flow(x uint32, pc uint64) (Kind, uint64) {
	switch {
	case x>>26 == 0b000101: // b
		return Jump, pc + signed(x, 0, 26)*4
	case x>>26 == 0b100101: // bl
		return Call, pc + signed(x, 0, 26)*4
	case x>>24 == 0x54: // b.cond
		if x>>1&7 == 7 { // al, nv
			return Jump, pc + signed(x, 5, 19)*4
		}
		return CondJump, pc + signed(x, 5, 19)*4
	case x>>25&0x3f == 0b011010: // cbz, cbnz
		return CondJump, pc + signed(x, 5, 19)*4
	case x>>25&0x3f == 0b011011: // tbz, tbnz
		return CondJump, pc + signed(x, 5, 14)*4
	case x>>25 == 0b1101011: // through a register, including those that authenticate a pointer
		switch x >> 21 & 7 {
		case 0:
			return Jump, 0
		case 1:
			return Call, 0
		case 2, 4: // ret, eret
			return Return, 0
		}
	}
	return Plain, 0
}

// bits returns the field of x that has n bits and starts at bit at.
func bits(x uint32, at, n int) uint32 { return x >> at & (1<<n - 1) }

// signed returns the same field, sign-extended.
func signed(x uint32, at, n int) uint64 {
	return uint64(int64(int32(x<<(32-at-n)) >> (32 - n)))
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
