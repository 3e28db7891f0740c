package xarch

import (
	"encoding/binary"

	"golang.org/x/arch/ppc64/ppc64asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// PPC64LE decodes little-endian POWER code. Its prefixed instructions have 8 bytes.
func PPC64LE(code []byte, pc uint64) []asm.Inst {
	return decode(code, pc, 4, nextPPC64LE)
}

func nextPPC64LE(code []byte, pc uint64) asm.Inst {
	decoded, err := ppc64asm.Decode(code, binary.LittleEndian)
	if err != nil || decoded.Op == 0 {
		return asm.Inst{}
	}
	in := asm.Inst{Len: decoded.Len, Text: padMnemonic(ppc64asm.GNUSyntax(decoded, pc))}
	in.Kind, in.Target = ppc64leFlow(decoded.Enc, pc)
	return in
}

// ppc64leFlow returns the kind of an instruction, and the target of a direct branch. The target is 0 for other
// instructions.
func ppc64leFlow(x uint32, pc uint64) (asm.Kind, uint64) {
	const always = 0b10100 // the bits of BO that mean: test neither the condition nor the counter
	conditional := x>>21&always != always
	link, absolute := x&1 != 0, x&2 != 0
	from := func(distance uint64) uint64 {
		if absolute {
			return distance
		}
		return pc + distance
	}
	kind := asm.Jump
	switch {
	case link:
		kind = asm.Call
	case conditional:
		kind = asm.CondJump
	}
	switch x >> 26 {
	case 18: // b
		if !link {
			kind = asm.Jump
		}
		return kind, from(asm.Signed(x, 2, 24) * 4)
	case 16: // bc
		return kind, from(asm.Signed(x, 2, 14) * 4)
	case 19:
		switch asm.Bits(x, 1, 10) {
		case 16: // bclr
			if kind == asm.Jump {
				return asm.Return, 0
			}
			return kind, 0
		case 528, 560: // bcctr, bctar
			return kind, 0
		}
	}
	return asm.Plain, 0
}
