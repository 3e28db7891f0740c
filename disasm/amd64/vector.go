package amd64

import "golang.org/x/arch/x86/x86asm"

// vector has the fields of a VEX or EVEX prefix, named as in the manual. Bits that are inverted in the prefix have
// been inverted back.
type vector struct {
	form      byte // vex2, vex3 or evex; 0 if there is no such prefix
	mapNo     byte // 1: 0F, 2: 0F38, 3: 0F3A; 4 to 7 have no other name
	w, l, pp  byte
	rex       byte // R, X and B as in a REX prefix
	vvvv      byte // the register in the prefix; 0 if there is none
	mask      byte // aaa; 0 if there is no mask
	zero      bool // zeroing instead of merging
	high      bool // one of the upper 16 registers is used
	promoted  bool // an instruction of promotedInsts
	bcst      bool // EVEX.b: broadcast, rounding, or no exceptions
	roundMode bool // EVEX.b with registers only
	repeats   int  // how often a broadcast element is repeated; 0 if appendBroadcast computes that
}

const (
	vex2 = 0xc5
	vex3 = 0xc4
	evex = 0x62
)

// head returns the number of bytes before the opcode.
func (v *vector) head() int {
	switch v.form {
	case vex2:
		return 2
	case vex3:
		return 3
	}
	return 4
}

// scanVector reads a VEX or EVEX prefix and reports whether there is one.
func (x *x86) scanVector() bool {
	op := x.op
	if op[0] != vex2 && op[0] != vex3 && op[0] != evex {
		return false
	}
	v := vector{form: op[0]}
	if len(op) < v.head()+1 {
		x.vec = v
		return true
	}
	switch v.form {
	case vex2:
		v.mapNo, v.rex = 1, ^op[1]>>5&rexR
		v.l, v.pp = op[1]>>2&1, op[1]&3
		v.vvvv = ^op[1] >> 3 & 15
	case vex3:
		v.mapNo, v.rex = op[1]&31, ^op[1]>>5&7
		v.w, v.l, v.pp = op[2]>>7, op[2]>>2&1, op[2]&3
		v.vvvv = ^op[2] >> 3 & 15
	case evex:
		v.mapNo, v.rex = op[1]&7, ^op[1]>>5&7
		v.w, v.l, v.pp = op[2]>>7, op[3]>>5&3, op[2]&3
		v.mask, v.zero, v.bcst = op[3]&7, op[3]&0x80 != 0, op[3]&0x10 != 0
		v.vvvv = ^op[2]>>3&15 | ^op[3]<<1&16
		x.high = ^op[1]>>2&rexR | ^op[2]>>1&rexX | op[1]>>3&rexB
		v.high = x.high != 0 || op[3]&8 == 0 || len(op) > 5 && op[5] >= 0xc0 && op[1]&0x40 == 0
	}
	x.vec = v
	return true
}

// badPrefix returns how many bytes of an invalid prefix objdump skips, or 0 if the prefix is valid.
func (v *vector) badPrefix(op []byte) int {
	switch {
	case v.form == vex3 && (v.mapNo == 0 || v.mapNo > 3):
		return 1
	case v.form == evex && v.mapNo == 0:
		return 1
	}
	return 0
}

// decodeVector decodes a VEX or EVEX instruction.
func (x *x86) decodeVector() bool {
	v := &x.vec
	head := v.head()
	if len(x.op) <= head || v.badPrefix(x.op) > 0 {
		return false
	}
	if v.form != evex && v.mapNo == 1 && x.op[head] == 0x77 { // x86asm expects a ModRM byte
		x.spell = &x.names[[...]x86asm.Op{x86asm.VZEROUPPER, x86asm.VZEROALL}[v.l]]
		x.args, x.len = x86asm.Args{}, x.n+head+1
		return true
	}
	if len(x.op) <= head+1 { // x86asm would accept a missing ModRM byte
		return false
	}
	if v.form == evex {
		switch found := promotedIndex[v.mapNo][x.op[head]]; {
		case x.high&rexX != 0 && x.op[head+1] >= 0xc0: // X4 belongs to an index register
			return false
		case found != nil:
			return x.decodePromoted(found)
		case v.mapNo == 5 || v.mapNo == 6 || v.mapNo == 2 && x.op[head] == 0x74: // 0x74: vcvtph2bf8
			return x.decodeHalf()
		case v.mapNo > 3:
			return false
		}
	}
	in, ok := x.decodeAVX(x.avxOp())
	if !ok {
		return x.decodeVmovd(x.op[head], x.op[head+1])
	}
	x.len = x.n + in.Len
	x.take(&in)
	x.extendVector()
	v.roundMode = v.bcst && x.op[head+1] >= 0xc0
	if v.form == evex && v.l == 3 && !v.roundMode {
		return false
	}
	x.dropMask()
	if v.form == evex && v.l == 0 {
		x.onlyXMM()
	}
	if v.vvvv != 0 && !x.usesVvvv() {
		return false
	}
	for _, a := range x.args {
		if m, ok := a.(x86asm.Mem); ok {
			if v.bcst && repeatsHalf(in.Op) { // x86asm takes the repeated element for a whole vector
				m.Disp = m.Disp / int64(x.memBytes) * halfBytes
				x.memBytes = halfBytes
			}
			return x.vectorMem(m)
		}
	}
	return true
}

// repeatsHalf reports whether an instruction can repeat an element of 16 bits although x86asm does not know that.
func repeatsHalf(op x86asm.Op) bool {
	switch op {
	case x86asm.VCMPPH, x86asm.VMINMAXPH, x86asm.VCMPBF16, x86asm.VMINMAXBF16, x86asm.VGETMANTBF16,
		x86asm.VREDUCEBF16, x86asm.VRNDSCALEBF16, x86asm.VFPCLASSBF16:
		return true
	}
	return false
}

// decodeAVX decodes the instruction with x86asm. If an instruction ignores W or L, x86asm only knows the encoding in
// which this bit is clear. So if x86asm does not know the instruction, decodeAVX clears these bits and tries again.
func (x *x86) decodeAVX(op []byte) (x86asm.Inst, bool) {
	in, err := x86asm.Decode(op, 64)
	if err == nil && in.Op != 0 {
		return in, true
	}
	var raw [maxInstLen]byte
	for _, ignored := range [...]struct{ w, l bool }{{l: true}, {w: true}, {true, true}} {
		fed := raw[:copy(raw[:], op)]
		switch {
		case x.vec.form == vex2:
			fed[1] &^= bitsIf(ignored.l, 4)
		case x.vec.form == vex3:
			fed[2] &^= bitsIf(ignored.w, 0x80) | bitsIf(ignored.l, 4)
		default:
			fed[2] &^= bitsIf(ignored.w, 0x80)
			fed[3] &^= bitsIf(ignored.l, 0x60)
		}
		if in, err := x86asm.Decode(fed, 64); err == nil && in.Op != 0 {
			if ignored.w && x.vec.w == 1 {
				x.widen(&in)
			}
			return in, true
		}
	}
	return in, false
}

// widen turns the integer operand of a conversion into a 64-bit one. W is set in the instruction, but x86asm did not
// know that encoding, so it has decoded the instruction with W cleared.
func (x *x86) widen(in *x86asm.Inst) {
	if !x.names[in.Op].wide {
		return
	}
	for i, a := range in.Args {
		switch a := a.(type) {
		case x86asm.Reg:
			if a >= x86asm.EAX && a <= x86asm.R15L {
				in.Args[i] = a - x86asm.EAX + x86asm.RAX
			}
		case x86asm.Mem:
			if i > 1 { // the integer itself
				a.Disp *= 2 // an 8-bit displacement is in units of the operand's size
				in.Args[i], in.MemBytes = a, 8
			}
		}
	}
}

// bitsIf returns the given bits, or 0 if on is false.
func bitsIf(on bool, bits byte) byte {
	if on {
		return bits
	}
	return 0
}

// onlyXMM corrects the registers of 128-bit conversions. All of them are xmm, but x86asm makes the longer side a ymm.
func (x *x86) onlyXMM() {
	for i, a := range x.args {
		if r, ok := a.(x86asm.Reg); ok && r >= x86asm.Y0 && r <= x86asm.Y31 {
			x.args[i] = r - x86asm.Y0 + x86asm.X0
		}
	}
}

// usesVvvv reports whether an operand is the register in the prefix's vvvv field. If vvvv is not 0 but no operand uses
// it, the instruction is invalid.
func (x *x86) usesVvvv() bool {
	for _, a := range x.args {
		switch a := a.(type) {
		case x86asm.Reg:
			if regNumber(a) == x.vec.vvvv || a >= x86asm.K0 && a <= x86asm.K7 && regNumber(a) == x.vec.vvvv&7 {
				return true
			}
		case x86asm.Mem:
			if a.Index >= x86asm.X0 { // the highest bit of vvvv belongs to the index
				return true
			}
		}
	}
	return false
}

// regNumber returns the number of a 32-bit or 64-bit general register, or of a vector or mask register. It returns
// 0xff for all other registers.
func regNumber(r x86asm.Reg) byte {
	switch {
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return byte(r - x86asm.EAX)
	case r >= x86asm.RAX && r <= x86asm.R15:
		return byte(r - x86asm.RAX)
	case r >= x86asm.K0 && r <= x86asm.K7:
		return byte(r - x86asm.K0)
	case r >= x86asm.X0 && r <= x86asm.Z31:
		return byte(r-x86asm.X0) & 31
	}
	return 0xff
}

// dropMask removes the mask register from the operands, because it is printed after the first operand: "%zmm1{%k2}".
func (x *x86) dropMask() {
	if x.vec.mask == 0 {
		return
	}
	for i := 1; i < len(x.args); i++ {
		if x.args[i] == x86asm.Arg(x86asm.K0+x86asm.Reg(x.vec.mask)) {
			copy(x.args[i:], x.args[i+1:])
			x.args[len(x.args)-1] = nil
			return
		}
	}
}

// vectorMem reads the memory operand. It takes two things from x86asm's result m: the 8-bit displacement of EVEX,
// which x86asm has already multiplied by the operand's size, and the vector that is the index of a gather.
func (x *x86) vectorMem(m x86asm.Mem) bool {
	if x.readMem(x.vec.head()+1, x.vec.rex) == 0 {
		return false
	}
	x.use(x.addr)
	if x.vec.form == evex && x.mem.dispLen == 1 {
		x.mem.disp = m.Disp
	}
	if m.Index >= x86asm.X0 {
		x.mem.index = m.Index
		return x.mem.high&rexX == 0
	}
	return true
}

// avxOp returns x.op without the bits of an EVEX prefix that x86asm does not know: X4 and B4, and R4 if it belongs to a
// general register.
func (x *x86) avxOp() []byte {
	if x.high == 0 || x.high == rexR && !x.generalDestination() {
		return x.op
	}
	op := x.opCopy[:copy(x.opCopy[:], x.op)]
	op[1] &^= 8
	op[2] |= 4
	if x.generalDestination() {
		op[1] |= 0x10
	}
	return op
}

// generalDestination reports whether ModRM.reg of an EVEX instruction is a general register: in conversions to
// integers, and in vpextrw.
func (x *x86) generalDestination() bool {
	if x.vec.form != evex || x.vec.mapNo != 1 {
		return false
	}
	switch x.op[4] {
	case 0x2c, 0x2d, 0x78, 0x79:
		return x.vec.pp >= 2
	case 0xc5:
		return true
	}
	return false
}

// extendVector handles the bit R4 or B4 that extends the number of a general register in an EVEX instruction.
func (x *x86) extendVector() {
	bit := byte(rexB)
	if x.generalDestination() {
		bit = rexR
	}
	if x.vec.form != evex || x.high&bit == 0 {
		return
	}
	for i, a := range x.args {
		if r, ok := a.(x86asm.Reg); ok {
			x.extend(i, r)
		}
	}
}
