package arm64

import (
	"math/bits"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// scalableOps are the operands of SVE. The element size e is in bits 23 and 22.
var scalableOps = map[string]operand{
	"e":    sveElement(0, 1, 2, 3),
	"e!b":  sveElement(1, 2, 3),
	"e!d":  sveElement(0, 1, 2),
	"e sd": sveElement(2, 3),
	"f":    sveElement(1, 2, 3),
	"half": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		if elementSize(x) == 0 {
			return b, false
		}
		return append(b, "bhsd"[elementSize(x)-1]), true
	},
	"c":   func(b []byte, x uint32, _ uint64) ([]byte, bool) { return append(b, "bhwd"[elementSize(x)]), true },
	"g":   decimalOp(10, 3),
	"g4":  decimalOp(10, 4),
	"pd":  decimalOp(0, 4),
	"pn":  decimalOp(5, 4),
	"pm":  decimalOp(16, 4),
	"pg":  decimalOp(10, 4),
	"pg4": decimalOp(16, 4),
	"pn=pm": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Bits(x, 5, 4))), asm.Bits(x, 5, 4) == asm.Bits(x, 16, 4)
	},
	"pg=pm": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Bits(x, 10, 4))), asm.Bits(x, 10, 4) == asm.Bits(x, 16, 4)
	},
	"pg=pn=pm": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		n := asm.Bits(x, 5, 4)
		return appendInt(b, int(n)), n == asm.Bits(x, 10, 4) && n == asm.Bits(x, 16, 4)
	},
	"pd=pm": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return b, asm.Bits(x, 0, 4) == asm.Bits(x, 16, 4) },
	"n+1": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int((asm.Bits(x, 5, 5)+1)&31)), true
	},
	"d=m": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return b, asm.Bits(x, 0, 5) == asm.Bits(x, 16, 5) },

	// General registers. Their width is that of an element ("e:"), or depends on bit 12 ("w:").
	"e:Rd":    sveGeneral(0, false),
	"e:Rn":    sveGeneral(5, false),
	"e:Rm":    sveGeneral(16, false),
	"e:Rn|SP": sveGeneral(5, true),
	"w:Rn": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendReg(b, "WX"[x>>12&1], x, asm.Bits(x, 5, 5), false)
	},
	"w:Rm": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendReg(b, "WX"[x>>12&1], x, asm.Bits(x, 16, 5), false)
	},
	"Xm!31": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(append(b, 'x'), int(asm.Bits(x, 16, 5))), asm.Bits(x, 16, 5) != 31
	},

	"vladdr9": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendVL(b, x, int(asm.Signed(asm.Bits(x, 16, 6)<<3|asm.Bits(x, 10, 3), 0, 9))), true
	},
	"vladdr4": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendVL(b, x, int(asm.Signed(x, 16, 4))), true
	},
	"xs22": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, "us"[x>>22&1], 'x', 't', 'w'), true
	},
	"xs14": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, "us"[x>>14&1], 'x', 't', 'w'), true
	},

	"pattern": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendPattern(b, asm.Bits(x, 5, 5)), true },
	"count": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		pattern, times := asm.Bits(x, 5, 5), asm.Bits(x, 16, 4)+1
		if times == 1 {
			return appendPattern(b, pattern), true
		}
		if pattern == sveAll {
			b = append(b, ", all"...)
		} else {
			b = appendPattern(b, pattern)
		}
		return appendInt(append(b, ", mul #"...), int(times)), true
	},

	"simm5 n": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Signed(x, 5, 5))), true
	},
	"simm5 m": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Signed(x, 16, 5))), true
	},
	"simm6": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendInt(b, int(asm.Signed(x, 5, 6))), true },
	"uimm7": decimalOp(14, 7),
	"ext8": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Bits(x, 16, 5)<<3|asm.Bits(x, 10, 3))), true
	},
	"simm8": sveImm8(func(x uint32) int { return int(asm.Signed(x, 5, 8)) }),
	"uimm8": sveImm8(func(x uint32) int { return int(asm.Bits(x, 5, 8)) }),
	"simm8 plain": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Signed(x, 5, 8))), true
	},
	"uimm8 plain": decimalOp(5, 8),

	// Shifts: the highest bit of tsz that is set determines the size of the elements. The lower bits of tsz and imm3
	// determine the amount. The encoding has tsz in two parts (see sveShift).
	"tsz":       sveShiftElement(sveShift),
	"tszg":      sveShiftElement(sveShiftMerged),
	"sveright":  sveShiftAmount(sveShift, true),
	"sverightg": sveShiftAmount(sveShiftMerged, true),
	"sveleft":   sveShiftAmount(sveShift, false),
	"sveleftg":  sveShiftAmount(sveShiftMerged, false),

	"broadcast": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		size := uint32(bits.TrailingZeros32(asm.Bits(x, 16, 5) | 0x20))
		if size > 4 {
			return b, false
		}
		index := (asm.Bits(x, 22, 2)<<5 | asm.Bits(x, 16, 5)) >> (size + 1)
		b = append(b, "bhsdq"[size], ',', ' ')
		if index == 0 {
			return appendInt(append(b, "bhsdq"[size]), int(asm.Bits(x, 5, 5))), true
		}
		b = appendInt(append(b, 'z'), int(asm.Bits(x, 5, 5)))
		b = appendInt(append(b, '.', "bhsdq"[size], '['), int(index))
		return append(b, ']'), true
	},
	"bits e": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		e, _, ok := sveBits(x)
		return append(b, "bhsd"[e]), ok
	},
	"bits": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		e, v, ok := sveBits(x)
		return asm.AppendHex(append(b, "bhsd"[e], ',', ' ', '#'), v), ok
	},
	"not dup": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		e, v, _ := sveBits(x)
		shift := 64 - 8<<e
		signed := int64(v<<shift) >> shift
		if signed&0xff == 0 {
			signed >>= 8
		}
		return b, e > 0 && signed != int64(int8(signed))
	},
}

func sveElement(sizes ...uint32) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		for _, s := range sizes {
			if s == elementSize(x) {
				return append(b, "bhsd"[s]), true
			}
		}
		return b, false
	}
}

func sveGeneral(at int, sp bool) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendReg(b, "WWWX"[elementSize(x)], x, asm.Bits(x, at, 5), sp)
	}
}

// appendVL appends an address with an offset in whole vectors: "[x20, #89, mul vl]".
func appendVL(b []byte, x uint32, offset int) []byte {
	b = appendBase(b, x)
	if offset != 0 {
		b = append(appendInt(append(b, ", #"...), offset), ", mul vl"...)
	}
	return append(b, ']')
}

const sveAll = 31 // the predicate pattern for all elements

var svePatterns = [32]string{
	0: "pow2", 1: "vl1", 2: "vl2", 3: "vl3", 4: "vl4", 5: "vl5", 6: "vl6", 7: "vl7", 8: "vl8",
	9: "vl16", 10: "vl32", 11: "vl64", 12: "vl128", 13: "vl256", 29: "mul4", 30: "mul3",
}

func appendPattern(b []byte, pattern uint32) []byte {
	switch name := svePatterns[pattern]; {
	case pattern == sveAll:
		return b
	case name != "":
		return append(append(b, ", "...), name...)
	}
	return appendInt(append(b, ", #"...), int(pattern))
}

// sveImm8 returns an operand that appends an immediate. If the instruction shifts the immediate by eight bits, the
// operand appends the shifted value, for example 256. But a shifted zero becomes "0, lsl #8".
func sveImm8(value func(x uint32) int) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		v, shifted := value(x), x>>13&1 != 0
		switch {
		case !shifted:
			return appendInt(b, v), true
		case elementSize(x) == 0:
			return b, false
		case v == 0:
			return append(b, "0, lsl #8"...), true
		}
		return appendInt(b, v<<8), true
	}
}

// sveShift and sveShiftMerged return the fields tsz and imm3 of a shift as one number, whose lower three bits are imm3.
// sveShiftMerged is for shifts with a governing predicate.
func sveShift(x uint32) uint32       { return asm.Bits(x, 22, 2)<<5 | asm.Bits(x, 16, 5) }
func sveShiftMerged(x uint32) uint32 { return asm.Bits(x, 22, 2)<<5 | asm.Bits(x, 5, 5) }

func sveShiftElement(field func(x uint32) uint32) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		tsz := field(x) >> 3
		if tsz == 0 {
			return b, false
		}
		return append(b, "bhsd"[bits.Len32(tsz)-1]), true
	}
}

func sveShiftAmount(field func(x uint32) uint32, right bool) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		v := field(x)
		if v>>3 == 0 {
			return b, false
		}
		width := 8 << (bits.Len32(v>>3) - 1)
		if right {
			return appendInt(b, 2*width-int(v)), true
		}
		return appendInt(b, int(v)-width), true
	}
}

// sveBits returns the immediate of a bitwise instruction. The instruction repeats the value v in all elements of a
// vector. An element has 2^size bytes, and size is as small as possible.
func sveBits(x uint32) (size int, v uint64, ok bool) {
	v, ok = bitmask(asm.Bits(x, 17, 1), asm.Bits(x, 11, 6), asm.Bits(x, 5, 6))
	imms := asm.Bits(x, 5, 6)
	switch {
	case x>>17&1 != 0:
		size = 3
	case imms&0x20 == 0:
		size = 2
	case imms&0x10 == 0:
		size = 1
	}
	return size, v & (^uint64(0) >> (64 - 8<<size)), ok
}
