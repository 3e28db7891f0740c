package arm64

import "github.com/gasm-profiler/gasm/disasm/asm"

// shifts has the operands of shifts, extensions and bit fields. Their names are explained in operand.go.
var shifts = map[string]operand{
	"shift": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendShift(b, x), x>>31 != 0 || x>>15&1 == 0
	},
	"shift3": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendShift(b, x), asm.Bits(x, 22, 2) != 3 && (x>>31 != 0 || x>>15&1 == 0)
	},
	"extended": appendExtended,
	"extr": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		sf := x >> 31
		return appendInt(append(b, '#'), int(asm.Bits(x, 10, 6))), x>>22&1 == sf && (sf != 0 || x>>15&1 == 0)
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
		b, _ = appendReg(b, 'R', x, asm.Bits(x, 5, 5), false)
		return b, asm.Bits(x, 5, 5) == asm.Bits(x, 16, 5)
	},
	"Rn=m!zr": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		b, _ = appendReg(b, 'R', x, asm.Bits(x, 5, 5), false)
		return b, asm.Bits(x, 5, 5) == asm.Bits(x, 16, 5) && asm.Bits(x, 5, 5) != 31
	},
}

var shiftNames = [...]string{"lsl", "lsr", "asr", "ror"}

func appendShift(b []byte, x uint32) []byte {
	typ, n := asm.Bits(x, 22, 2), asm.Bits(x, 10, 6)
	if typ == 0 && n == 0 {
		return b
	}
	b = append(append(b, ", "...), shiftNames[typ]...)
	return appendInt(append(b, " #"...), int(n))
}

var extends = [...]string{"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"}

// appendExtended appends an extended register: "w3, sxtw #2". uxtx extends nothing, and neither does uxtw in a 32-bit
// instruction. If another operand is the stack pointer, these two are written as lsl, or not at all if they shift by 0:
// "sub sp, sp, x8".
func appendExtended(b []byte, x uint32, _ uint64) ([]byte, bool) {
	option, n := asm.Bits(x, 13, 3), asm.Bits(x, 10, 3)
	class := byte('W')
	if x>>31 != 0 && option&3 == 3 {
		class = 'X'
	}
	b, _ = appendReg(b, class, x, asm.Bits(x, 16, 5), false)
	name := extends[option]
	setsFlags := x>>29&1 != 0
	if option == 2+x>>31 && (asm.Bits(x, 5, 5) == 31 || asm.Bits(x, 0, 5) == 31 && !setsFlags) {
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

// bitField returns the width of a bit field instruction's operands in bits, and its immediates immr and imms. ok is
// false if the encoding is not allocated.
func bitField(x uint32) (width, immr, imms int, ok bool) {
	width = 32 << (x >> 31)
	immr, imms = int(asm.Bits(x, 16, 6)), int(asm.Bits(x, 10, 6))
	return width, immr, imms, x>>22&1 == x>>31 && immr < width && imms < width
}

// A cond is a condition: its name, and the other names that objdump puts into a comment.
type cond struct{ name, alias, branchAlias string }

var condNames = [16]cond{
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

var conditions = map[string]operand{
	"cc": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, condNames[asm.Bits(x, 0, 4)].name...), true
	},
	"b.alias": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, condNames[asm.Bits(x, 0, 4)].branchAlias...), true
	},
	"cond": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		c := &condNames[asm.Bits(x, 12, 4)]
		return append(append(b, c.name...), c.alias...), true
	},
	"inverse": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		c := &condNames[asm.Bits(x, 12, 4)^1]
		return append(append(b, c.name...), c.alias...), asm.Bits(x, 13, 3) != 7
	},
}
