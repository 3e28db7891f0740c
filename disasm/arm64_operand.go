package disasm

import "strings"

// arm64Operand finds the operand of a name:
//
//	<Xd>       register: class and field, see arm64Register
//	<Xn|SP>    the same, 31 being the stack pointer
//	<d>        the number of the register alone: field 0 (d, t), 5 (n), 16 (m, s) or 10 (a, u)
//	<imm12>    anything else: an entry of one of the maps of operands
func arm64Operand(name string) arm64Op {
	for _, ops := range []map[string]arm64Op{
		arm64Immediates, arm64Shifts, arm64Conditions, arm64Addresses, arm64SystemOps, arm64FloatOps, arm64VectorOps, arm64ScalableOps,
	} {
		if op := ops[name]; op != nil {
			return op
		}
	}
	if at, ok := arm64Field[name]; ok {
		return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
			return appendInt(b, int(x>>at&31)), true
		}
	}
	plain, sp := strings.CutSuffix(name, "|SP")
	if at, ok := arm64Field[plain[1:]]; ok && len(plain) == 2 && strings.Contains(arm64Classes, plain[:1]) {
		class := plain[0]
		return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
			return appendArm64Reg(b, class, x, x>>at&31, sp)
		}
	}
	panic("disasm: no operand <" + name + ">") // a slip in a table: every test of arm64 finds it
}

// arm64Field is where a register's number lies in the encoding.
var arm64Field = map[string]int{"d": 0, "t": 0, "n": 5, "m": 16, "s": 16, "a": 10, "u": 10}

// arm64Classes are the classes of registers. That of R depends on bit 31, of Y on the size in bits 31 and 30, of F on
// the floating-point type in bits 23 and 22, of E on the element size there, of G on bit 22 alone.
const arm64Classes = "WXBHSDQRYFEG"

func appendArm64Reg(b []byte, class byte, x, number uint32, sp bool) ([]byte, bool) {
	switch class {
	case 'R':
		class = "WX"[x>>31]
	case 'Y':
		class = "WWWX"[x>>30]
	case 'F':
		class = "SD H"[x>>22&3]
	case 'E':
		class = "BHSD"[x>>22&3]
	case 'G':
		class = "SD"[x>>22&1]
	}
	lower := class | ' '
	switch {
	case class == ' ':
		return b, false
	case class != 'W' && class != 'X' || number != 31:
		return appendInt(append(b, lower), int(number)), true
	case sp && class == 'W':
		return append(b, "wsp"...), true
	case sp:
		return append(b, "sp"...), true
	}
	return append(b, lower, 'z', 'r'), true
}

// appendTarget appends an address of code.
func appendTarget(b []byte, addr uint64) ([]byte, bool) { return appendHex(b, addr), true }

// arm64Immediates are constants and the targets of branches.
var arm64Immediates = map[string]arm64Op{
	"rel26": func(b []byte, x uint32, pc uint64) ([]byte, bool) { return appendTarget(b, pc+signed(x, 0, 26)*4) },
	"rel19": func(b []byte, x uint32, pc uint64) ([]byte, bool) { return appendTarget(b, pc+signed(x, 5, 19)*4) },
	"rel14": func(b []byte, x uint32, pc uint64) ([]byte, bool) { return appendTarget(b, pc+signed(x, 5, 14)*4) },
	"adr": func(b []byte, x uint32, pc uint64) ([]byte, bool) {
		return appendTarget(b, pc+signed(x, 5, 19)*4+uint64(bits(x, 29, 2)))
	},
	"adrp": func(b []byte, x uint32, pc uint64) ([]byte, bool) {
		return appendTarget(b, pc&^0xfff+(signed(x, 5, 19)*4+uint64(bits(x, 29, 2)))<<12)
	},
	"bit": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendInt(b, int(x>>31<<5|bits(x, 19, 5))), true
	},
	"udf":      decimalOp(0, 16),
	"nzcv":     hexOp(0, 4),
	"ccimm":    hexOp(16, 5),
	"exc":      hexOp(5, 16),
	"rmif":     decimalOp(15, 6),
	"rmifmask": decimalOp(0, 4),
	"imm12": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b = appendHex(append(b, '#'), uint64(bits(x, 10, 12)))
		if x>>22&1 != 0 {
			b = append(b, ", lsl #12"...)
		}
		return b, true
	},
	"imm16": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b = appendHex(append(b, '#'), uint64(bits(x, 5, 16)))
		shift := int(bits(x, 21, 2)) * 16
		if shift != 0 {
			b = appendInt(append(b, ", lsl #"...), shift)
		}
		return b, shift < 32 || x>>31 != 0
	},
	"movwide": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		imm, shift := uint64(bits(x, 5, 16)), bits(x, 21, 2)*16
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
		v, ok := arm64Bitmask(x)
		return appendHex(append(b, '#'), v), ok
	},
	"movbits": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		v, ok := arm64Bitmask(x)
		if !ok || isMovWide(v, x>>31 != 0) && bits(x, 0, 5) != 31 { // 31: those have no stack pointer
			return b, false
		}
		return appendMoved(b, v, x>>31 != 0), true
	},
}

// decimalOp is the field of n bits from bit at on as a decimal number.
func decimalOp(at, n int) arm64Op {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendInt(b, int(bits(x, at, n))), true }
}

// hexOp is the field of n bits from bit at on as a hexadecimal number.
func hexOp(at, n int) arm64Op {
	return func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendHex(b, uint64(bits(x, at, n))), true }
}

// appendMoved appends the operand of a mov, and the same as a signed decimal number in a comment.
func appendMoved(b []byte, v uint64, wide bool) []byte {
	signed := int(v)
	if !wide {
		v = uint64(uint32(v))
		signed = int(int32(v))
	}
	return appendInt(append(appendHex(append(b, '#'), v), "  // #"...), signed)
}

// arm64Bitmask decodes the immediate of a logical instruction: a run of ones, rotated within an element of 2 to 64
// bits that is repeated.
func arm64Bitmask(x uint32) (uint64, bool) {
	v, ok := bitmask(bits(x, 22, 1), bits(x, 16, 6), bits(x, 10, 6))
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

// isMovWide reports whether movz or movn can make v: then orr is not spelled mov.
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

// arm64Shifts are shifts, extensions and bit fields.
var arm64Shifts = map[string]arm64Op{
	"shift": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendShift(b, x), x>>31 != 0 || x>>15&1 == 0
	},
	"shift3": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendShift(b, x), bits(x, 22, 2) != 3 && (x>>31 != 0 || x>>15&1 == 0)
	},
	"extended": appendExtended,
	"extr": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		sf := x >> 31
		return appendInt(append(b, '#'), int(bits(x, 10, 6))), x>>22&1 == sf && (sf != 0 || x>>15&1 == 0)
	},
	"shr": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		width, lo, hi, ok := bitField(x)
		return appendInt(append(b, '#'), lo), ok && hi == width-1
	},
	"shl": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		width, lo, hi, ok := bitField(x)
		return appendInt(append(b, '#'), width-lo), ok && hi != width-1 && hi+1 == lo
	},
	"bfi": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		width, lo, hi, ok := bitField(x)
		b = appendInt(append(b, '#'), (width-lo)&(width-1))
		return appendInt(append(b, ", #"...), hi+1), ok && hi < lo
	},
	"bfx": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		_, lo, hi, ok := bitField(x)
		b = appendInt(append(b, '#'), lo)
		return appendInt(append(b, ", #"...), hi-lo+1), ok
	},
	"Rn=m": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b, _ = appendArm64Reg(b, 'R', x, bits(x, 5, 5), false)
		return b, bits(x, 5, 5) == bits(x, 16, 5)
	},
	"Rn=m!zr": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b, _ = appendArm64Reg(b, 'R', x, bits(x, 5, 5), false)
		return b, bits(x, 5, 5) == bits(x, 16, 5) && bits(x, 5, 5) != 31
	},
}

var arm64ShiftNames = [...]string{"lsl", "lsr", "asr", "ror"}

func appendShift(b []byte, x uint32) []byte {
	typ, n := bits(x, 22, 2), bits(x, 10, 6)
	if typ == 0 && n == 0 {
		return b
	}
	b = append(append(b, ", "...), arm64ShiftNames[typ]...)
	return appendInt(append(b, " #"...), int(n))
}

var arm64Extends = [...]string{"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"}

// appendExtended appends an extended register. The extension to the operation's own width is none: lsl, which is left
// out when it shifts by nothing, if the stack pointer is one of the other operands.
func appendExtended(b []byte, x uint32, _ uint64) ([]byte, bool) {
	option, n := bits(x, 13, 3), bits(x, 10, 3)
	class := byte('W')
	if x>>31 != 0 && option&3 == 3 {
		class = 'X'
	}
	b, _ = appendArm64Reg(b, class, x, bits(x, 16, 5), false)
	name := arm64Extends[option]
	setsFlags := x>>29&1 != 0
	if option == 2+x>>31 && (bits(x, 5, 5) == 31 || bits(x, 0, 5) == 31 && !setsFlags) {
		if n == 0 {
			return b, true
		}
		name = "lsl"
	}
	b = append(append(b, ", "...), name...)
	if n != 0 {
		b = appendInt(append(b, " #"...), int(n))
	}
	return b, n <= 4
}

// bitField decodes the immediates of a bit field instruction: the operation's width, immr and imms.
func bitField(x uint32) (width, immr, imms int, ok bool) {
	width = 32 << (x >> 31)
	immr, imms = int(bits(x, 16, 6)), int(bits(x, 10, 6))
	return width, immr, imms, x>>22&1 == x>>31 && immr < width && imms < width
}

// An arm64Cond is a condition: its name, and the names that objdump puts in a comment.
type arm64Cond struct{ name, alias, branchAlias string }

var arm64Conds = [16]arm64Cond{
	{"eq", "  // eq = none", "  // b.none"},
	{"ne", "  // ne = any", "  // b.any"},
	{"cs", "  // cs = hs, nlast", "  // b.hs, b.nlast"},
	{"cc", "  // cc = lo, ul, last", "  // b.lo, b.ul, b.last"},
	{"mi", "  // mi = first", "  // b.first"},
	{"pl", "  // pl = nfrst", "  // b.nfrst"},
	{"vs", "", ""},
	{"vc", "", ""},
	{"hi", "  // hi = pmore", "  // b.pmore"},
	{"ls", "  // ls = plast", "  // b.plast"},
	{"ge", "  // ge = tcont", "  // b.tcont"},
	{"lt", "  // lt = tstop", "  // b.tstop"},
	{"gt", "", ""},
	{"le", "", ""},
	{"al", "", ""},
	{"nv", "", ""},
}

var arm64Conditions = map[string]arm64Op{
	"cc": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, arm64Conds[bits(x, 0, 4)].name...), true
	},
	"b.alias": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, arm64Conds[bits(x, 0, 4)].branchAlias...), true
	},
	"cond": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		c := &arm64Conds[bits(x, 12, 4)]
		return append(append(b, c.name...), c.alias...), true
	},
	"inverse": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		c := &arm64Conds[bits(x, 12, 4)^1]
		return append(append(b, c.name...), c.alias...), bits(x, 13, 3) != 7
	},
}
