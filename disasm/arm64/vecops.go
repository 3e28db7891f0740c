package arm64

import (
	"math/bits"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// arrangements are the ways to divide a vector into elements. The index is 2*n + Q, where an element has 2^n bytes, and
// Q is 1 for a whole vector and 0 for half of one.
var arrangements = [...]string{"8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d", "", "1q"}

// arrangement returns an operand that appends how a vector is divided: "8b", "16b", "4h" and so on. size(x) is the size
// of the elements, as log2 of the number of bytes. The operand refuses x if that size is not in the list sizes.
func arrangement(size func(x uint32) uint32, sizes ...uint32) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		s := size(x)
		for _, allowed := range sizes {
			if s == allowed {
				return append(b, arrangements[s<<1|x>>30&1]...), true
			}
		}
		return b, false
	}
}

// wholeArrangement is like arrangement, but for operands that are always a whole vector, whatever Q is.
func wholeArrangement(size func(x uint32) uint32, sizes ...uint32) operand {
	op := arrangement(size, sizes...)
	return func(b []byte, x uint32, pc uint64) ([]byte, bool) { return op(b, x|1<<30, pc) }
}

// scalar returns an operand that appends a register like "h3". The register's number is asm.Bits(x, at, 5). The letter
// depends on size(x), which is log2 of the register's size in bytes. The operand refuses x if that size is not in the
// list sizes.
func scalar(at int, size func(x uint32) uint32, sizes ...uint32) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		s := size(x)
		for _, allowed := range sizes {
			if s == allowed {
				return appendInt(append(b, "bhsdq"[s]), int(asm.Bits(x, at, 5))), true
			}
		}
		return b, false
	}
}

func elementSize(x uint32) uint32 { return asm.Bits(x, 22, 2) }
func widerSize(x uint32) uint32   { return asm.Bits(x, 22, 2) + 1 }
func floatSize(x uint32) uint32   { return 2 + asm.Bits(x, 22, 1) }
func narrowFloat(x uint32) uint32 { return 1 + asm.Bits(x, 22, 1) }
func indexSize(x uint32) uint32   { return uint32(bits.TrailingZeros32(asm.Bits(x, 16, 5) | 0x20)) } // above 3: invalid
func shiftSize(x uint32) uint32   { return uint32(bits.Len32(asm.Bits(x, 19, 4))) - 1 }              // from immh
func widerShift(x uint32) uint32  { return shiftSize(x) + 1 }

// fixedSize returns an operand that appends the arrangement with elements of 2^size bytes.
func fixedSize(size uint32) operand {
	return arrangement(func(uint32) uint32 { return size }, size)
}

// vectorOps has the operands of vector instructions. The function init adds the operands for lists of registers.
var vectorOps = map[string]operand{
	"B":       fixedSize(0),
	"H":       fixedSize(1),
	"S":       fixedSize(2),
	"T":       notOneD(arrangement(elementSize, 0, 1, 2, 3)),
	"T3":      arrangement(elementSize, 0, 1, 2),
	"T12":     arrangement(elementSize, 1, 2),
	"F":       notOneD(arrangement(floatSize, 2, 3)),
	"fwide":   wholeArrangement(floatSize, 2, 3),
	"fnarrow": arrangement(narrowFloat, 1, 2),
	"wide":    wholeArrangement(widerSize, 1, 2, 3),
	"pairs":   arrangement(widerSize, 1, 2, 3),
	"dup":     notOneD(arrangement(indexSize, 0, 1, 2, 3)),
	"shiftT":  notOneD(arrangement(shiftSize, 0, 1, 2, 3)),
	"shiftF":  notOneD(arrangement(shiftSize, 1, 2, 3)),
	"shiftN":  arrangement(shiftSize, 0, 1, 2),
	"shiftW":  wholeArrangement(widerShift, 1, 2, 3),
	"across": func(b []byte, x uint32, pc uint64) ([]byte, bool) {
		if elementSize(x) == 2 && x>>30&1 == 0 {
			return b, false
		}
		return arrangement(elementSize, 0, 1, 2)(b, x, pc)
	},
	"pair": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, '2', "sd"[asm.Bits(x, 22, 1)]), true
	},

	"no1d": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return b, asm.Bits(x, 10, 2) != 3 || x>>30&1 == 1
	},
	"no B or D":   func(b []byte, x uint32, _ uint64) ([]byte, bool) { return b, elementSize(x)-1 < 2 },
	"wide d":      scalar(0, widerSize, 1, 2, 3),
	"wide n":      scalar(5, widerSize, 1, 2, 3),
	"shift d":     scalar(0, shiftSize, 0, 1, 2, 3),
	"shift n":     scalar(5, shiftSize, 0, 1, 2, 3),
	"wideshift n": scalar(5, widerShift, 1, 2, 3),
	"fshift d":    scalar(0, shiftSize, 1, 2, 3),
	"fshift n":    scalar(5, shiftSize, 1, 2, 3),
	"elemreg d":   scalar(0, indexSize, 0, 1, 2, 3),

	"2": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		if x>>30&1 != 0 {
			b = append(b, '2')
		}
		return b, true
	},
	"n=m": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Bits(x, 5, 5))), asm.Bits(x, 5, 5) == asm.Bits(x, 16, 5)
	},
	"elem": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		size := indexSize(x)
		if size > 3 {
			return b, false
		}
		return appendElem(b, size, asm.Bits(x, 16, 5)>>(size+1)), true
	},
	"elem2": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		size := indexSize(x)
		if size > 3 {
			return b, false
		}
		return appendElem(b, size, asm.Bits(x, 11, 4)>>size), true
	},
	"general n": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendReg(b, "WX"[indexSize(x)/3&1], x, asm.Bits(x, 5, 5), false)
	},
	"smov d": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		q := x >> 30 & 1
		b, _ = appendReg(b, "WX"[q], x, asm.Bits(x, 0, 5), false)
		return b, indexSize(x) < 2+q
	},
	"umov d": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b, _ = appendReg(b, 'W', x, asm.Bits(x, 0, 5), false)
		return b, x>>30&1 == 0 && indexSize(x) < 2
	},

	"imm8":  func(b []byte, x uint32, _ uint64) ([]byte, bool) { return asm.AppendHex(b, uint64(imm8(x))), true },
	"lsl32": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendLSL(b, asm.Bits(x, 13, 2)*8), true },
	"lsl16": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendLSL(b, asm.Bits(x, 13, 1)*8), true },
	"msl": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(8+asm.Bits(x, 12, 1)*8)), true
	},
	"bytes": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		var v uint64
		for i := range 8 {
			if imm8(x)>>i&1 != 0 {
				v |= 0xff << (8 * i)
			}
		}
		return asm.AppendHex(b, v), true
	},
	"ext": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		n := asm.Bits(x, 11, 4)
		return appendInt(b, int(n)), n < 8 || x>>30&1 != 0
	},
	"shll": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendInt(b, 8<<elementSize(x)), true },
	"xar":  decimalOp(10, 6),
	"table": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendList(b, asm.Bits(x, 5, 5), asm.Bits(x, 13, 2)+1, "16b"), true
	},

	"right": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(16<<shiftSize(x))-int(asm.Bits(x, 16, 7))), shiftSize(x) < 4
	},
	"left": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Bits(x, 16, 7))-int(8<<shiftSize(x))), shiftSize(x) < 4
	},
	"longer": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return b, asm.Bits(x, 16, 7) == 8<<shiftSize(x) },

	"index s": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(asm.Bits(x, 11, 1)<<1|asm.Bits(x, 21, 1))), true
	},
	"indexed": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		if elementSize(x) == 1 {
			return appendIndexedHalf(b, x), true
		}
		return appendIndexed(b, x, 2, asm.Bits(x, 11, 1)<<1|asm.Bits(x, 21, 1)), true
	},
	"findexed": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		if x>>22&1 == 0 {
			return appendIndexed(b, x, 2, asm.Bits(x, 11, 1)<<1|asm.Bits(x, 21, 1)), true
		}
		return appendIndexed(b, x, 3, asm.Bits(x, 11, 1)), x>>21&1 == 0
	},
	"hindexed": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendIndexedHalf(b, x), true },
}

func init() {
	for regs := uint32(1); regs <= 4; regs++ {
		n := string(rune('0' + regs))
		vectorOps["list"+n] = func(b []byte, x uint32, _ uint64) ([]byte, bool) {
			return appendList(b, asm.Bits(x, 0, 5), regs, arrangements[asm.Bits(x, 10, 2)<<1|x>>30&1]), true
		}
		vectorOps["post"+n] = postOp(func(x uint32) uint32 { return regs * 8 << (x >> 30 & 1) })
		vectorOps["postr"+n] = postOp(func(x uint32) uint32 { return regs << asm.Bits(x, 10, 2) })
		for size, elem := range "bhsd" {
			vectorOps["post"+string(elem)+n] = postOp(func(uint32) uint32 { return regs << size })
			vectorOps["lane"+string(elem)+n] = func(b []byte, x uint32, _ uint64) ([]byte, bool) {
				index := (x>>30&1<<3 | asm.Bits(x, 10, 3)&4 | asm.Bits(x, 10, 2)) >> size
				b = appendList(b, asm.Bits(x, 0, 5), regs, string(elem))
				return append(appendInt(append(b, '['), int(index)), ']'), true
			}
		}
	}
}

// postOp returns an operand that appends what a post-indexed load or store adds to the base register: another register,
// or the number of bytes that were loaded or stored.
func postOp(size func(x uint32) uint32) operand {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		if m := asm.Bits(x, 16, 5); m != 31 {
			return appendInt(append(b, 'x'), int(m)), true
		}
		return appendInt(append(b, '#'), int(size(x))), true
	}
}

// notOneD returns an operand that is like op, but refuses "1d", a vector of one element, because the instruction has a
// scalar form for it.
func notOneD(op operand) operand {
	return func(b []byte, x uint32, pc uint64) ([]byte, bool) {
		b, ok := op(b, x, pc)
		return b, ok && (b[len(b)-2] != '1' || b[len(b)-1] != 'd')
	}
}

func imm8(x uint32) uint32 { return asm.Bits(x, 16, 3)<<5 | asm.Bits(x, 5, 5) }

func appendLSL(b []byte, n uint32) []byte {
	if n == 0 {
		return b
	}
	return appendInt(append(b, ", lsl #"...), int(n))
}

func appendElem(b []byte, size, index uint32) []byte {
	b = append(b, "bhsd"[size], '[')
	return append(appendInt(b, int(index)), ']')
}

func appendIndexed(b []byte, x, size, index uint32) []byte {
	b = append(appendInt(append(b, 'v'), int(asm.Bits(x, 16, 5))), '.')
	return appendElem(b, size, index)
}

// appendIndexedHalf appends an element of 16 bits. The index has three bits. One of them is the bit M, which would be
// part of the register's number if the element were larger.
func appendIndexedHalf(b []byte, x uint32) []byte {
	return appendIndexed(b, x&^(1<<20), 1, asm.Bits(x, 11, 1)<<2|asm.Bits(x, 20, 2)>>1<<1|asm.Bits(x, 20, 1))
}

// appendList appends n registers, "{v0.16b, v1.16b}". Three or more are written as a range, "{v0.16b-v2.16b}", unless
// the numbers wrap around: "{v31.16b, v0.16b, v1.16b}".
func appendList(b []byte, first, n uint32, arrangement string) []byte {
	b = append(b, '{')
	last := (first + n - 1) & 31
	for i := range n {
		if n > 2 && last > first && i > 0 && i < n-1 {
			continue
		}
		switch {
		case i == 0:
		case n > 2 && last > first:
			b = append(b, '-')
		default:
			b = append(b, ", "...)
		}
		b = append(appendInt(append(b, 'v'), int((first+i)&31)), '.')
		b = append(b, arrangement...)
	}
	return append(b, '}')
}
