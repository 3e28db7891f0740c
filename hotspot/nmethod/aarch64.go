package nmethod

import "encoding/binary"

// aarch64's code contains an address in one of two forms. Either it is the target of a branch, or several instructions
// move it to a register piece by piece, and a blr or br after them uses the register
// (MacroAssembler::target_addr_for_insn).

// targetARM64 returns the address that the instructions at the start of code contain: the target of a branch, or the
// constant that they move to a register. The parameter at is the address of the code. ok is false if the instructions
// contain no address.
func targetARM64(code []byte, at uint64) (uint64, bool) {
	word, ok := instructionARM64(code, 0)
	switch {
	case !ok:
		return 0, false
	case word&0x7c000000 == 0x14000000: // b, bl
		return at + uint64(int64(int32(word<<6)>>4)), true
	case word&0x9f000000 == 0x90000000:
		return pageARM64(code, at)
	}
	return movedConstantARM64(code)
}

func instructionARM64(code []byte, n int) (word uint32, ok bool) {
	if len(code) < 4*n+4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(code[4*n:]), true
}

// pageARM64 returns the address that an adrp and the instructions after it compute. The adrp computes the address of a
// page, and the other instructions add the rest:
//
//	adrp x8, page                        adrp x8, page
//	add  x8, x8, #offset                 movk x8, #bits, lsl #32        (beyond 4 GB)
//	                                     add  x8, x8, #offset
func pageARM64(code []byte, at uint64) (uint64, bool) {
	word, _ := instructionARM64(code, 0)
	register := word & 31
	pages := int64(int32(word<<8)>>13)<<2 | int64(word>>29&3)
	target := at&^0xfff + uint64(pages<<12)
	next, ok := instructionARM64(code, 1)
	if ok && next&0xffe0001f == 0xf2c00000|register { // movk, lsl #32
		target = target&0xffffffff | uint64(next>>5&0xffff)<<32
		next, ok = instructionARM64(code, 2)
	}
	if ok && next&0xffc003e0 == 0x91000000|register<<5 { // add
		target += uint64(next >> 10 & 0xfff)
	}
	return target, true
}

// movedConstantARM64 returns the constant of a movz and the two movks after it:
//
//	movz x8, #0x1234
//	movk x8, #0x5678, lsl #16
//	movk x8, #0x7f, lsl #32
func movedConstantARM64(code []byte) (value uint64, ok bool) {
	register := uint32(0)
	for n, next := range []uint32{0xd2800000, 0xf2a00000, 0xf2c00000} {
		word, ok := instructionARM64(code, n)
		if !ok || word&0xffe00000 != next || n > 0 && word&31 != register {
			return 0, false
		}
		register = word & 31
		value |= uint64(word>>5&0xffff) << (16 * n)
	}
	return value, true
}
