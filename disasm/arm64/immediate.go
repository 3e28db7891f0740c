package arm64

import "github.com/gasm-profiler/gasm/disasm/asm"

// appendTarget appends a code address.
func appendTarget(b []byte, addr uint64) ([]byte, bool) { return asm.AppendHex(b, addr), true }

// immediates has the operands that are constants or addresses of code. Their names are explained in operand.go.
var immediates = map[string]operand{
	"rel26": func(b []byte, x uint32, pc uint64) ([]byte, bool) { return appendTarget(b, pc+asm.Signed(x, 0, 26)*4) },
	"rel19": func(b []byte, x uint32, pc uint64) ([]byte, bool) { return appendTarget(b, pc+asm.Signed(x, 5, 19)*4) },
	"rel14": func(b []byte, x uint32, pc uint64) ([]byte, bool) { return appendTarget(b, pc+asm.Signed(x, 5, 14)*4) },
	"adr": func(b []byte, x uint32, pc uint64) ([]byte, bool) {
		return appendTarget(b, pc+asm.Signed(x, 5, 19)*4+uint64(asm.Bits(x, 29, 2)))
	},
	"adrp": func(b []byte, x uint32, pc uint64) ([]byte, bool) {
		return appendTarget(b, pc&^0xfff+(asm.Signed(x, 5, 19)*4+uint64(asm.Bits(x, 29, 2)))<<12)
	},
	"bit": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(x>>31<<5|asm.Bits(x, 19, 5))), true
	},
	"udf":      decimalOp(0, 16),
	"nzcv":     hexOp(0, 4),
	"ccimm":    hexOp(16, 5),
	"exc":      hexOp(5, 16),
	"rmif":     decimalOp(15, 6),
	"rmifmask": decimalOp(0, 4),
	"imm12": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b = asm.AppendHex(append(b, '#'), uint64(asm.Bits(x, 10, 12)))
		if x>>22&1 != 0 {
			b = append(b, ", lsl #12"...)
		}
		return b, true
	},
	"imm16": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b = asm.AppendHex(append(b, '#'), uint64(asm.Bits(x, 5, 16)))
		shift := int(asm.Bits(x, 21, 2)) * 16
		if shift != 0 {
			b = appendInt(append(b, ", lsl #"...), shift)
		}
		return b, shift < 32 || x>>31 != 0
	},
	"movwide": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		imm, shift := uint64(asm.Bits(x, 5, 16)), asm.Bits(x, 21, 2)*16
		wide, not := x>>31 != 0, x>>30&1 == 0
		if imm == 0 && shift != 0 || !wide && (shift >= 32 || not && imm == 0xffff) {
			return b, false
		}
		v := imm << shift
		if not {
			v = ^v
		}
		return appendMoved(b, v, wide), true
	},
	"bitmask": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		v, ok := logicalImmediate(x)
		return asm.AppendHex(append(b, '#'), v), ok
	},
	"movbits": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		v, ok := logicalImmediate(x)
		if !ok || isMovWide(v, x>>31 != 0) && asm.Bits(x, 0, 5) != 31 { // movz and movn can't write to sp (31)
			return b, false
		}
		return appendMoved(b, v, x>>31 != 0), true
	},
}

// decimalOp returns an operand that appends a field of the encoding as a decimal number. For example, decimalOp(15, 6)
// is for a field of 6 bits, of which bit 15 is the lowest.
func decimalOp(at, n int) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendInt(b, int(asm.Bits(x, at, n))), true }
}

// hexOp is like decimalOp, but the operand appends a hexadecimal number.
func hexOp(at, n int) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return asm.AppendHex(b, uint64(asm.Bits(x, at, n))), true
	}
}

// appendMoved appends the operand of a mov, and a comment with its decimal value: "#0xffffffff  // #-1".
func appendMoved(b []byte, v uint64, wide bool) []byte {
	signed := int(v)
	if !wide {
		v = uint64(uint32(v))
		signed = int(int32(v))
	}
	return appendInt(append(asm.AppendHex(append(b, '#'), v), "  // #"...), signed)
}

// logicalImmediate decodes the immediate of a logical instruction. The immediate is a pattern of 2 to 64 bits that is
// repeated to fill the register. The pattern is a run of ones, which may be rotated. logicalImmediate returns false if
// the encoding is not allocated.
func logicalImmediate(x uint32) (uint64, bool) {
	v, ok := bitmask(asm.Bits(x, 22, 1), asm.Bits(x, 16, 6), asm.Bits(x, 10, 6))
	if x>>31 == 0 {
		return uint64(uint32(v)), ok && x>>22&1 == 0
	}
	return v, ok
}

func bitmask(n, immr, imms uint32) (uint64, bool) {
	size := uint32(64)
	if n == 0 {
		for size = 32; size >= 2 && imms&size != 0; size /= 2 {
		}
		if size < 2 {
			return 0, false
		}
	}
	ones, rotate := imms&(size-1)+1, immr&(size-1)
	if ones == size {
		return 0, false
	}
	run := uint64(1)<<ones - 1
	element := run >> rotate
	if rotate != 0 {
		element |= run << (size - rotate)
	}
	if size < 64 {
		element &= 1<<size - 1
	}
	for ; size < 64; size *= 2 {
		element |= element << size
	}
	return element, true
}

// isMovWide reports whether a single movz or movn can load v. If so, "mov" is the spelling of that movz or movn, and an
// orr that loads v is written as "orr". But if the orr writes to sp, it is written as "mov" all the same, because movz
// and movn can't write to sp.
func isMovWide(v uint64, wide bool) bool {
	halves := 4
	if !wide {
		v, halves = uint64(uint32(v)), 2
	}
	zeros, ones := 0, 0
	for i := range halves {
		switch v >> (16 * i) & 0xffff {
		case 0:
			zeros++
		case 0xffff:
			ones++
		}
	}
	return zeros >= halves-1 || ones >= halves-1
}
