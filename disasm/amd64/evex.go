package amd64

import (
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// appendMask appends the mask of a destination, like "{%k1}{z}".
func (x *x86) appendMask() {
	if x.vec.mask != 0 {
		x.buf = append(append(x.buf, '{'), x.regName(x86asm.K0+x86asm.Reg(x.vec.mask))...)
		x.buf = append(x.buf, '}')
	}
	if x.vec.zero {
		x.buf = append(x.buf, "{z}"...)
	}
}

// broadcastBytes returns the size in bytes of the element in memory that is repeated to fill a vector, or 0 if the
// instruction does not repeat an element.
func (x *x86) broadcastBytes() int {
	if x.vec.form != evex || !x.vec.bcst || x.vec.roundMode {
		return 0
	}
	return x.memBytes
}

// appendBroadcast appends the number of times that an element of elem bytes is repeated, like "{1to8}". Instructions
// that double the width of their elements only read half a vector, so the number is halved for them.
func (x *x86) appendBroadcast(elem int) {
	n := 16 << x.vec.l / elem
	if x.spell.widens {
		n /= 2
	}
	if x.vec.repeats > 0 {
		n = x.vec.repeats
	}
	x.buf = append(strconv.AppendInt(append(x.buf, "{1to"...), int64(n), 10), '}')
}

var roundNames = [4]string{"{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"}

// rounding returns the static rounding mode, such as "{rn-sae}". It returns "{sae}" if the instruction only
// suppresses exceptions, and "" if it does neither.
func (x *x86) rounding() string {
	switch {
	case !x.vec.roundMode:
		return ""
	case x.spell.saeOnly:
		return "{sae}"
	}
	return roundNames[x.vec.l]
}

// roundedArg returns the index of the last operand that is a register. The rounding mode is printed next to that
// operand.
func (x *x86) roundedArg() int {
	for i := x.argCount() - 1; i > 0; i-- {
		if _, ok := x.args[i].(x86asm.Reg); ok {
			return i
		}
	}
	return 0
}

// appendEncoding appends "{evex} " to an EVEX instruction if an assembler would choose VEX for these operands, and
// "{vex} " to a VEX instruction if it would choose EVEX.
func (x *x86) appendEncoding() {
	v := &x.vec
	switch {
	case v.form == 0:
	case v.promoted:
		x.buf = append(x.buf, x.mark...)
	case v.form != evex:
		if x.spell.usuallyEVEX {
			x.buf = append(x.buf, "{vex} "...)
		}
	case x.args[0] != nil && regIsMask(x.args[0]), x.spell.onlyEVEX:
	case !v.bcst && v.l < 2 && !v.high && v.mask == 0 && !x.spell.usuallyEVEX && x.hasVEXForm():
		x.buf = append(x.buf, "{evex} "...)
	}
}

func regIsMask(a x86asm.Arg) bool {
	r, ok := a.(x86asm.Reg)
	return ok && r >= x86asm.K0 && r <= x86asm.K7
}

// hasVEXForm reports whether the same instruction exists with a VEX prefix.
func (x *x86) hasVEXForm() bool {
	v := &x.vec
	op := x.op[4:]
	pp := v.pp
	if x.spell == &x.names[x86asm.VMPSADBW] { // the EVEX form of vmpsadbw has another prefix
		pp = 1
	}
	vex := [maxInstLen + 4]byte{vex3, 0xe0 | v.mapNo, 0x78 | v.l<<2 | pp, op[0]}
	// Keep mod and the opcode extension in ModRM, because they can select a different instruction. The other bits do
	// not matter. The displacement and the immediate after ModRM are zeros.
	modrm := op[1] & 0x38
	if op[1] >= 0xc0 {
		modrm |= 0xc0
	}
	vex[4] = modrm
	for _, bits := range [...]byte{0, 0x80, 4, 0x84} { // first with W and L unchanged, then with W, L or both cleared
		vex[2] = 0x78 | v.w<<7 | v.l<<2 | pp
		vex[2] ^= bits & vex[2]
		in, err := x86asm.Decode(vex[:], 64)
		if err == nil && in.Op != 0 && &x.names[in.Op] == x.spell {
			return true
		}
	}
	return false
}

// predicates are the names for the immediate of a vector comparison. For example, vcmpps with the immediate 1 is
// vcmpltps. Instructions without a VEX or EVEX prefix only have the first eight.
var predicates = [32]string{
	"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord",
	"eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true",
	"eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s",
	"eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us",
}

// intPredicates are the names for integer comparisons. For example, vpcmpd with the immediate 1 is vpcmpltd. The
// immediates 3 (false) and 7 (true) have no names.
var intPredicates = [8]string{"eq", "lt", "le", "", "neq", "nlt", "nle", ""}

// carryless are the names for the immediate of a carry-less multiplication. They say whether the low or the high half
// of each operand is multiplied: vpclmulqdq with the immediate 0x10 is vpclmullqhqdq.
var carryless = [0x12]string{0: "lql", 1: "hql", 0x10: "lqh", 0x11: "hqh"}

// predicate returns the name that replaces the immediate in the mnemonic, such as "lt" in vcmpltps. It returns "" if
// the immediate has no name.
func (x *x86) predicate() string {
	if x.spell.split == 0 {
		return ""
	}
	n := x.argCount()
	imm, ok := x.args[n-1].(x86asm.Imm)
	if !ok {
		return ""
	}
	names := predicates[:]
	switch {
	case x.spell.table == predicateCarryless:
		names = carryless[:]
	case x.spell.table == predicateInt:
		names = intPredicates[:]
	case x.vec.form == 0:
		names = names[:8]
	}
	if i := int(uint8(imm)); i < len(names) {
		return names[i]
	}
	return ""
}

// vectorSpelling sets the fields of s that can be derived from the name of a vector operation. For vcvttpd2dq, for
// example, it sets saeOnly because EVEX.b can only select {sae} and no rounding mode. It also sets suffixVector
// because AT&T syntax appends the length of a vector in memory.
func vectorSpelling(s *spelling, name string) {
	base, v := strings.CutPrefix(name, "v")
	s.split, s.table = splitName(name, base, v)
	if !v {
		return
	}
	for p := range strings.FieldsSeq(saeOnly) {
		s.saeOnly = s.saeOnly || strings.HasPrefix(base, p)
	}
	s.widens = isOneOf(base, widening)
	s.wide = isOneOf(base, fromInteger) || isOneOf(base, toInteger)
	s.usuallyEVEX = isOneOf(base, "pdpbusd pdpbusds pdpwssd pdpwssds pmadd52luq pmadd52huq cvtneps2bf16")
	s.onlyEVEX = isOneOf(base, "psllvd psllvq psrlvd psrlvq psravd")
	switch {
	case isOneOf(base, fromInteger):
		s.suffix = suffixMemory
	case isOneOf(base, "cvtpd2ps cvtpd2dq cvttpd2dq cvtpd2udq cvttpd2udq cvtqq2ps cvtuqq2ps cvtneps2bf16"):
		s.suffix = suffixVector
	case strings.HasPrefix(base, "fpclassp"), base == "fpclassbf16":
		s.suffix = suffixClass
	case strings.Contains(base, "gather") || strings.Contains(base, "scatter"): // each element has its own address
		s.mem = 4
		if strings.HasSuffix(base, "pd") || strings.HasPrefix(base, "p") && strings.HasSuffix(base, "q") {
			s.mem = 8
		}
	}
}

// splitName returns the index at which a predicate is inserted into the name of a comparison or of a carry-less
// multiplication. For "vcmpps" it returns 4, because a possible result is "vcmpltps". base is the name without its
// leading "v". The parameter v says whether there was one. The second result is the table that has the predicate.
func splitName(name, base string, v bool) (at int, table predicateTable) {
	if tail, ok := strings.CutPrefix(base, "pclmul"); ok {
		return len(name) - len(tail), predicateCarryless
	}
	if tail, ok := strings.CutPrefix(base, "cmp"); ok && isOneOf(tail, "ps pd ss sd ph sh") {
		return len(name) - len(tail), predicateFloat
	}
	if tail, ok := strings.CutPrefix(base, "pcmp"); ok && v && isOneOf(tail, "b w d q ub uw ud uq") {
		return len(name) - len(tail), predicateInt
	}
	return 0, predicateFloat
}

// Conversions, by name without the leading v.
const (
	fromInteger = "cvtsi2sd cvtsi2ss cvtusi2sd cvtusi2ss"
	toInteger   = "cvtsd2si cvtss2si cvttsd2si cvttss2si cvtsd2usi cvtss2usi cvttsd2usi cvttss2usi"
	widening    = `cvtps2pd cvtdq2pd cvtudq2pd cvtps2qq cvtps2uqq cvttps2qq cvttps2uqq cvtph2ps cvtph2psx
		cvtph2dq cvtph2udq cvttph2dq cvttph2udq`
)

// saeOnly lists the beginnings of operation names. For these operations, EVEX.b does not select a rounding mode. It
// only suppresses exceptions, which is printed as {sae}.
const saeOnly = `max min cmp comi ucomi comx ucomx cvtt cvtps2pd cvtss2sd cvtph2p cvtps2ph getexp getmant rndscale reduce range
	fixupimm rcp28 rsqrt28 exp2 p2intersect`

func isOneOf(s, words string) bool {
	for w := range strings.FieldsSeq(words) {
		if s == w {
			return true
		}
	}
	return false
}
