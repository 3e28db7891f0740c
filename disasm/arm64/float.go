package arm64

import (
	"math"
	"strconv"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// float returns the rows of scalar floating-point instructions.
func float() []row {
	rows := []row{
		{0xfffffc00, 0x1e260000, "fmov <Wd>, <Sn>"},
		{0xfffffc00, 0x1e270000, "fmov <Sd>, <Wn>"},
		{0xfffffc00, 0x9e660000, "fmov <Xd>, <Dn>"},
		{0xfffffc00, 0x9e670000, "fmov <Dd>, <Xn>"},
		{0x7ffffc00, 0x1ee60000, "fmov <Rd>, <Hn>"},
		{0x7ffffc00, 0x1ee70000, "fmov <Hd>, <Rn>"},
		{0xfffffc00, 0x9eae0000, "fmov <Xd>, v<n>.d[1]"},
		{0xfffffc00, 0x9eaf0000, "fmov v<d>.d[1], <Xn>"},
		{0xfffffc00, 0x1e7e0000, "fjcvtzs <Wd>, <Dn>"},
		{0x7f3ffc00, 0x1e220000, "scvtf <Fd>, <Rn>"},
		{0x7f3ffc00, 0x1e230000, "ucvtf <Fd>, <Rn>"},
		{0x7f3ffc00, 0x1e240000, "fcvtas <Rd>, <Fn>"},
		{0x7f3ffc00, 0x1e250000, "fcvtau <Rd>, <Fn>"},
		{0x7f3f0000, 0x1e020000, "scvtf <Fd>, <Rn>, #<fbits>"},
		{0x7f3f0000, 0x1e030000, "ucvtf <Fd>, <Rn>, #<fbits>"},
		{0x7f3f0000, 0x1e180000, "fcvtzs <Rd>, <Fn>, #<fbits>"},
		{0x7f3f0000, 0x1e190000, "fcvtzu <Rd>, <Fn>, #<fbits>"},
		{0xff20fc1f, 0x1e202000, "fcmp <Fn>, <Fm>"},
		{0xff20fc1f, 0x1e202008, "fcmp <Fn>, #0.0"},
		{0xff20fc1f, 0x1e202010, "fcmpe <Fn>, <Fm>"},
		{0xff20fc1f, 0x1e202018, "fcmpe <Fn>, #0.0"},
		{0xff200c10, 0x1e200400, "fccmp <Fn>, <Fm>, #<nzcv>, <cond>"},
		{0xff200c10, 0x1e200410, "fccmpe <Fn>, <Fm>, #<nzcv>, <cond>"},
		{0xff200c00, 0x1e200c00, "fcsel <Fd>, <Fn>, <Fm>, <cond>"},
		{0xff201fe0, 0x1e201000, "fmov <Fd>, #<fimm13>"},
		{0xff208000, 0x1f000000, "fmadd <Fd>, <Fn>, <Fm>, <Fa>"},
		{0xff208000, 0x1f008000, "fmsub <Fd>, <Fn>, <Fm>, <Fa>"},
		{0xff208000, 0x1f200000, "fnmadd <Fd>, <Fn>, <Fm>, <Fa>"},
		{0xff208000, 0x1f208000, "fnmsub <Fd>, <Fn>, <Fm>, <Fa>"},
		{0xfffffc00, 0x1e624000, "fcvt <Sd>, <Dn>"},
		{0xfffffc00, 0x1ee24000, "fcvt <Sd>, <Hn>"},
		{0xfffffc00, 0x1e22c000, "fcvt <Dd>, <Sn>"},
		{0xfffffc00, 0x1ee2c000, "fcvt <Dd>, <Hn>"},
		{0xfffffc00, 0x1e23c000, "fcvt <Hd>, <Sn>"},
		{0xfffffc00, 0x1e63c000, "fcvt <Hd>, <Dn>"},
		{0xffbffc00, 0x1e284000, "frint32z <Fd>, <Fn>"},
		{0xffbffc00, 0x1e28c000, "frint32x <Fd>, <Fn>"},
		{0xffbffc00, 0x1e294000, "frint64z <Fd>, <Fn>"},
		{0xffbffc00, 0x1e29c000, "frint64x <Fd>, <Fn>"},
	}
	for mode, letter := range "npmz" {
		base := 0x1e200000 | uint32(mode)<<19
		rows = append(rows,
			row{0x7f3ffc00, base, "fcvt" + string(letter) + "s <Rd>, <Fn>"},
			row{0x7f3ffc00, base | 1<<16, "fcvt" + string(letter) + "u <Rd>, <Fn>"})
	}
	for op, name := range [...]string{
		0: "fmov", 1: "fabs", 2: "fneg", 3: "fsqrt", 8: "frintn", 9: "frintp", 10: "frintm", 11: "frintz",
		12: "frinta", 14: "frintx", 15: "frinti",
	} {
		if name != "" {
			rows = append(rows, row{0xff3ffc00, 0x1e204000 | uint32(op)<<15, name + " <Fd>, <Fn>"})
		}
	}
	for op, name := range [...]string{"fmul", "fdiv", "fadd", "fsub", "fmax", "fmin", "fmaxnm", "fminnm", "fnmul"} {
		rows = append(rows, row{0xff20fc00, 0x1e200800 | uint32(op)<<12, name + " <Fd>, <Fn>, <Fm>"})
	}
	return rows
}

var floatOps = map[string]operand{
	"fbits": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		scale := asm.Bits(x, 10, 6)
		return appendInt(b, int(64-scale)), x>>31 != 0 || scale >= 32
	},
	"fimm13": func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendFloat8(b, asm.Bits(x, 13, 8)), true },
	"fimm5":  func(b []byte, x uint32, _ uint64) ([]byte, bool) { return appendFloat8(b, asm.Bits(x, 5, 8)), true },
	"fimm8": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return appendFloat8(b, asm.Bits(x, 16, 3)<<5|asm.Bits(x, 5, 5)), true
	},
}

// appendFloat8 appends the number that is encoded in an immediate of 8 bits: a sign bit, three bits of exponent, and
// four bits of mantissa.
func appendFloat8(b []byte, v uint32) []byte {
	exponent := int(v>>4&7^4) - 3
	f := math.Ldexp(1+float64(v&15)/16, exponent)
	if v>>7 != 0 {
		f = -f
	}
	return strconv.AppendFloat(b, f, 'e', 18, 64)
}
