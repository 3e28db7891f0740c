package arm64

import "github.com/gasm-profiler/gasm/disasm/asm"

// addresses has the operands of loads and stores. Their names are explained in operand.go. The operands <width> and
// <order> write letters of the mnemonic, for example the "b" in casb and the "al" in swpal.
var addresses = map[string]operand{
	"addr12": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendOffset(b, x, int(asm.Bits(x, 10, 12))<<accessScale(x)), true
	},
	"addr9": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendOffset(b, x, int(asm.Signed(x, 12, 9))), true
	},
	"addr7": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendOffset(b, x, pairOffset(x)), true },
	"simm9": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Signed(x, 12, 9))), true
	},
	"simm7": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendInt(b, pairOffset(x)), true },
	"addrauth": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		offset := int(asm.Signed(x>>22<<31|asm.Bits(x, 12, 9)<<22, 22, 10)) * 8
		if x>>11&1 != 0 { // pre-indexed: the base register is updated, and the offset is written even if it is 0
			b = append(appendBase(b, x), ", #"...)
			return append(appendInt(b, offset), ']'), true
		}
		return appendOffset(b, x, offset), true
	},
	"addrreg": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		option, scaled := asm.Bits(x, 13, 3), x>>12&1 != 0
		if option&2 == 0 {
			return b, false
		}
		class := "WX"[option&1]
		b, _ = appendReg(append(appendBase(b, x), ", "...), class, x, asm.Bits(x, 16, 5), false)
		switch {
		case option != 3:
			b = append(append(b, ", "...), extends[option]...)
		case scaled:
			b = append(b, ", lsl"...)
		}
		if scaled {
			b = appendInt(append(b, " #"...), accessScale(x))
		}
		return append(b, ']'), true
	},
	"prfop": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		op := asm.Bits(x, 0, 5)
		if op>>3 == 3 || op>>1&3 == 3 {
			return append(b, '#', '0', 'x', "01"[op>>4], "0123456789abcdef"[op&15]), true
		}
		b = append(b, [...]string{"pld", "pli", "pst"}[op>>3]...)
		b = append(b, 'l', "123"[op>>1&3])
		return append(b, [...]string{"keep", "strm"}[op&1]...), true
	},
	"width": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, [...]string{"b", "h", "", ""}[x>>30]...), true
	},
	"order": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, [...]string{"", "l", "a", "al"}[asm.Bits(x, 22, 2)]...), true
	},
	"pair s": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendRegPair(b, x, asm.Bits(x, 16, 5)) },
	"pair t": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendRegPair(b, x, asm.Bits(x, 0, 5)) },
}

// accessScale returns the size of a load or store of one register, as log2 of the number of bytes.
func accessScale(x uint32) int {
	if x>>26&1 != 0 && x>>23&1 != 0 {
		return 4
	}
	return int(x >> 30)
}

// pairOffset returns the offset of a load or store of two registers, in bytes.
func pairOffset(x uint32) int {
	scale := 2 + x>>31
	if x>>26&1 != 0 {
		scale = 2 + x>>30
	}
	return int(asm.Signed(x, 15, 7)) << scale
}

func appendBase(b []byte, x uint32) []byte {
	b, _ = appendReg(append(b, '['), 'X', x, asm.Bits(x, 5, 5), true)
	return b
}

func appendOffset(b []byte, x uint32, offset int) []byte {
	b = appendBase(b, x)
	if offset != 0 {
		b = appendInt(append(b, ", #"...), offset)
	}
	return append(b, ']')
}

// appendRegPair appends two consecutive registers, which casp has as an operand: "x2, x3". It returns false if the
// number of the first register is odd, because such an encoding is not allocated.
func appendRegPair(b []byte, x, number uint32) ([]byte, bool) {
	class := "WX"[x>>30&1]
	b, _ = appendReg(b, class, x, number, false)
	b, _ = appendReg(append(b, ", "...), class, x, number+1, false)
	return b, number&1 == 0
}
