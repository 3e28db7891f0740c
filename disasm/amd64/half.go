package amd64

import (
	"regexp"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// A halfInst is an instruction of AVX512-FP16 (16-bit floating point) in the opcode maps 5 and 6. x86asm mistakes
// these maps for the maps 1 and 2, so it would decode vaddph as vaddps.
type halfInst struct {
	mapNo, opcode byte
	pp            byte // the prefix that is part of the opcode (EVEX.pp): 0 for none, 1 for 66, 2 for F3, 3 for F2
	w             int8 // EVEX.W: 0, 1, or anyW
	name          string
	dst           halfShape // ModRM.reg
	vvvv          bool      // the prefix encodes one more register, which has the shape of the longer operand
	src           halfShape // ModRM.rm
	elem          uint8     // size of an element of src, in bytes
}

const (
	anyW      = -1
	halfBytes = 2 // size of a 16-bit floating-point number
)

// A halfShape is the size of an operand relative to the vector length in the prefix (L). In a conversion, the longer
// operand has the shape full. For example, vcvtph2pd converts 16-bit numbers, whose vector has the shape quarter, to as
// many doubles, whose vector has the shape full.
type halfShape uint8

const (
	full halfShape = iota
	half
	quarter
	scalar1 // one element of an xmm register
	general // a general register, or memory of its size: 64 bits if W is set, else 32
)

// halfInsts has all AVX512-FP16 instructions of the maps 5 and 6, except for the moves, which decodeHalfMove decodes.
// init adds the large groups of similar instructions, such as vaddph and vfmadd132ph.
var halfInsts = []halfInst{
	{5, 0x1d, 0, 0, "vcvtss2sh", scalar1, true, scalar1, 4},
	{5, 0x1d, 1, 0, "vcvtps2phx", half, false, full, 4},
	{5, 0x2a, 2, anyW, "vcvtsi2sh", scalar1, true, general, 4},
	{5, 0x2c, 2, anyW, "vcvttsh2si", general, false, scalar1, 2},
	{5, 0x2d, 2, anyW, "vcvtsh2si", general, false, scalar1, 2},
	{5, 0x2e, 0, 0, "vucomish", scalar1, false, scalar1, 2},
	{5, 0x2f, 0, 0, "vcomish", scalar1, false, scalar1, 2},
	{5, 0x51, 0, 0, "vsqrtph", full, false, full, 2},
	{5, 0x51, 2, 0, "vsqrtsh", scalar1, true, scalar1, 2},
	{5, 0x5a, 0, 0, "vcvtph2pd", full, false, quarter, 2},
	{5, 0x5a, 1, 1, "vcvtpd2ph", quarter, false, full, 8},
	{5, 0x5a, 2, 0, "vcvtsh2sd", scalar1, true, scalar1, 2},
	{5, 0x5a, 3, 1, "vcvtsd2sh", scalar1, true, scalar1, 8},
	{5, 0x5b, 0, 0, "vcvtdq2ph", half, false, full, 4},
	{5, 0x5b, 0, 1, "vcvtqq2ph", quarter, false, full, 8},
	{5, 0x5b, 1, 0, "vcvtph2dq", full, false, half, 2},
	{5, 0x5b, 2, 0, "vcvttph2dq", full, false, half, 2},
	{5, 0x78, 0, 0, "vcvttph2udq", full, false, half, 2},
	{5, 0x78, 1, 0, "vcvttph2uqq", full, false, quarter, 2},
	{5, 0x78, 2, anyW, "vcvttsh2usi", general, false, scalar1, 2},
	{5, 0x79, 0, 0, "vcvtph2udq", full, false, half, 2},
	{5, 0x79, 1, 0, "vcvtph2uqq", full, false, quarter, 2},
	{5, 0x79, 2, anyW, "vcvtsh2usi", general, false, scalar1, 2},
	{5, 0x7a, 1, 0, "vcvttph2qq", full, false, quarter, 2},
	{5, 0x7a, 3, 0, "vcvtudq2ph", half, false, full, 4},
	{5, 0x7a, 3, 1, "vcvtuqq2ph", quarter, false, full, 8},
	{5, 0x7b, 1, 0, "vcvtph2qq", full, false, quarter, 2},
	{5, 0x7b, 2, anyW, "vcvtusi2sh", scalar1, true, general, 4},
	{5, 0x7c, 0, 0, "vcvttph2uw", full, false, full, 2},
	{5, 0x7c, 1, 0, "vcvttph2w", full, false, full, 2},
	{5, 0x7d, 0, 0, "vcvtph2uw", full, false, full, 2},
	{5, 0x7d, 1, 0, "vcvtph2w", full, false, full, 2},
	{5, 0x7d, 2, 0, "vcvtw2ph", full, false, full, 2},
	{5, 0x7d, 3, 0, "vcvtuw2ph", full, false, full, 2},

	{6, 0x13, 0, 0, "vcvtsh2ss", scalar1, true, scalar1, 2},
	{6, 0x13, 1, 0, "vcvtph2psx", full, false, half, 2},
	{6, 0x2c, 1, 0, "vscalefph", full, true, full, 2},
	{6, 0x2d, 1, 0, "vscalefsh", scalar1, true, scalar1, 2},
	{6, 0x42, 1, 0, "vgetexpph", full, false, full, 2},
	{6, 0x43, 1, 0, "vgetexpsh", scalar1, true, scalar1, 2},
	{6, 0x4c, 1, 0, "vrcpph", full, false, full, 2},
	{6, 0x4d, 1, 0, "vrcpsh", scalar1, true, scalar1, 2},
	{6, 0x4e, 1, 0, "vrsqrtph", full, false, full, 2},
	{6, 0x4f, 1, 0, "vrsqrtsh", scalar1, true, scalar1, 2},

	// Complex numbers: an element is a pair of 16-bit numbers.
	{6, 0x56, 2, 0, "vfmaddcph", full, true, full, 4},
	{6, 0x56, 3, 0, "vfcmaddcph", full, true, full, 4},
	{6, 0x57, 2, 0, "vfmaddcsh", scalar1, true, scalar1, 4},
	{6, 0x57, 3, 0, "vfcmaddcsh", scalar1, true, scalar1, 4},
	{6, 0xd6, 2, 0, "vfmulcph", full, true, full, 4},
	{6, 0xd6, 3, 0, "vfcmulcph", full, true, full, 4},
	{6, 0xd7, 2, 0, "vfmulcsh", scalar1, true, scalar1, 4},
	{6, 0xd7, 3, 0, "vfcmulcsh", scalar1, true, scalar1, 4},
}

func init() {
	for op, name := range map[byte]string{
		0x58: "vadd", 0x59: "vmul", 0x5c: "vsub", 0x5d: "vmin", 0x5e: "vdiv", 0x5f: "vmax",
	} {
		halfInsts = append(halfInsts,
			halfInst{5, op, 0, 0, name + "ph", full, true, full, 2},
			halfInst{5, op, 2, 0, name + "sh", scalar1, true, scalar1, 2})
	}
	for i, order := range [...]string{"132", "213", "231"} { // at opcodes 96, A6 and B6
		first := byte(0x96 + i*0x10)
		for j, name := range [...]string{"vfmaddsub", "vfmsubadd"} {
			halfInsts = append(halfInsts, halfInst{6, first + byte(j), 1, 0, name + order + "ph", full, true, full, 2})
		}
		for j, name := range [...]string{"vfmadd", "vfmsub", "vfnmadd", "vfnmsub"} {
			op := first + 2 + byte(2*j)
			halfInsts = append(halfInsts,
				halfInst{6, op, 1, 0, name + order + "ph", full, true, full, 2},
				halfInst{6, op + 1, 1, 0, name + order + "sh", scalar1, true, scalar1, 2})
		}
	}
	halfInsts = append(halfInsts, groupsAVX10()...)
	for i := range halfInsts {
		h := &halfInsts[i]
		key := halfKey{h.mapNo, h.opcode, h.pp}
		halfIndex[key] = append(halfIndex[key], spelledHalf{
			halfInst: h, spell: spellHalf(h),
			noRound: noRounding.MatchString(h.name), memOnly: strings.HasPrefix(h.name, "vmovrs"),
		})
	}
}

type halfKey struct{ mapNo, opcode, pp byte }

type spelledHalf struct {
	*halfInst
	spell   spelling
	noRound bool // no form selects a rounding mode or suppresses exceptions
	memOnly bool // the source is in memory
}

// halfIndex has the instructions by opcode map, opcode and prefix. Two instructions with the same key differ in W.
var halfIndex = map[halfKey][]spelledHalf{}

func spellHalf(h *halfInst) spelling {
	s := spelling{att: h.name, intel: h.name}
	vectorSpelling(&s, h.name)
	s.onlyEVEX = true
	switch {
	case h.name == "vcvtps2phx":
		s.saeOnly, s.suffix = false, suffixVector
	case h.name == "vcvtsh2ss", h.name == "vcvtsh2sd":
		s.saeOnly = true
	case h.src == general:
		s.suffix = suffixMemory
	case h.vvvv:
	case h.dst == half:
		s.suffix = suffixVector
	case h.dst == quarter:
		s.suffix = suffixClass
	}
	return s
}

// noRounding matches the names of instructions that have no rounding mode: those on floating-point numbers of 8 bits or
// less, those on bfloat16 numbers, and vmovrs.
var noRounding = regexp.MustCompile(`[bh]f(16|8|4)|vmovrs`)

// decodeHalf decodes an EVEX instruction of halfInsts or avx10Insts. The caller has checked that the opcode and the
// ModRM byte exist.
func (x *x86) decodeHalf() bool {
	v := &x.vec
	head := v.head()
	opcode, modrm := x.op[head], x.op[head+1]
	v.roundMode = v.bcst && modrm >= 0xc0
	if x.decodeHalfMove(opcode, modrm) {
		return true
	}
	found := halfIndex[halfKey{v.mapNo, opcode, v.pp}]
	for i := range found {
		if h := &found[i]; h.w == anyW || h.w == int8(v.w) {
			if h.noRound && v.roundMode || h.memOnly && modrm >= 0xc0 || h.elem == 1 && v.bcst {
				return false
			}
			x.spell = &h.spell
			return x.applyHalf(h.halfInst, modrm)
		}
	}
	return false
}

// applyHalf sets the operands and the length of the instruction in x, as h describes them. The caller sets the
// spelling. applyHalf returns false if the prefix or the operands are invalid for h.
func (x *x86) applyHalf(h *halfInst, modrm byte) bool {
	v := &x.vec
	vectors := h.dst < scalar1
	switch {
	case vectors && v.l == 3 && !v.roundMode, !vectors && v.bcst && !v.roundMode, !h.vvvv && v.vvvv != 0:
		return false
	}
	length := v.l
	if v.roundMode {
		length = 2 // L is the rounding mode, and the vectors have the full length
	}
	x.args, x.dataSize = x86asm.Args{x.halfReg(h.dst, length, x.halfRegNumber(modrm))}, 0
	if h.dst == general && x.high&rexR != 0 {
		x.highArgs |= 1
	}
	n := 1
	if h.vvvv {
		x.args[n] = x.halfReg(min(h.dst, h.src), length, v.vvvv)
		n++
	}
	if modrm >= 0xc0 {
		x.memBytes = 0
		x.args[n] = x.halfReg(h.src, length, modrm&7|v.rex&rexB<<3|v.rex&rexX<<3)
		if h.src == general && x.high&rexB != 0 {
			x.highArgs |= 1 << n
		}
		return x.halfMem(0)
	}
	x.args[n] = x86asm.Mem{}
	switch {
	case h.src == general:
		x.memBytes = 4 << v.w
	case h.src == scalar1 || v.bcst:
		x.memBytes = int(h.elem)
	default:
		x.memBytes = 16 << length >> h.src
	}
	if v.bcst {
		v.repeats = 16 << length >> h.src / int(h.elem)
	}
	return x.halfMem(x.memBytes)
}

// halfMem reads the ModRM byte and the SIB byte and displacement after it. An 8-bit displacement counts in units of
// the operand's size in bytes. halfMem returns false if the input is too short.
func (x *x86) halfMem(size int) bool {
	head := x.vec.head()
	n := x.readMem(head+1, x.vec.rex)
	if n == 0 {
		return false
	}
	x.len = x.n + head + 1 + n
	if x.mem.ok {
		x.use(x.addr)
		if x.mem.dispLen == 1 {
			x.mem.disp *= int64(size)
		}
	}
	return true
}

// halfRegNumber returns the number (0 to 31) of the register in ModRM.reg.
func (x *x86) halfRegNumber(modrm byte) byte {
	return modrm>>3&7 | x.vec.rex&rexR<<1 | ^x.op[1]&0x10
}

// halfReg returns the register with the given number. Its width depends on the shape and on the vector length, which
// is 0 for 128 bits, 1 for 256 and 2 for 512.
func (x *x86) halfReg(shape halfShape, length, number byte) x86asm.Reg {
	switch {
	case shape == general && x.vec.w == 1:
		return x86asm.RAX + x86asm.Reg(number&15)
	case shape == general:
		return x86asm.EAX + x86asm.Reg(number&15)
	case shape == scalar1 || int(length)-int(shape) <= 0:
		return x86asm.X0 + x86asm.Reg(number)
	case int(length)-int(shape) == 1:
		return x86asm.Y0 + x86asm.Reg(number)
	}
	return x86asm.Z0 + x86asm.Reg(number)
}

var (
	spellVmovsh = spelling{att: "vmovsh", intel: "vmovsh", onlyEVEX: true}
	spellVmovw  = spelling{att: "vmovw", intel: "vmovw", onlyEVEX: true}
)

// decodeHalfMove decodes vmovsh and vmovw. It returns false for all other instructions. vmovsh has three operands if
// all of them are registers, and two otherwise. vmovw copies between an xmm register and a general register or
// memory.
func (x *x86) decodeHalfMove(opcode, modrm byte) bool {
	v := &x.vec
	reg := x86asm.X0 + x86asm.Reg(x.halfRegNumber(modrm))
	rm := modrm&7 | v.rex&rexB<<3
	x.dataSize, x.memBytes = 0, 2
	memory := modrm < 0xc0
	switch {
	case v.mapNo != 5 || v.bcst || memory && v.vvvv != 0:
		return false
	case v.pp == 2 && v.w == 0 && (opcode == 0x10 || opcode == 0x11):
		x.spell = &spellVmovsh
		x.args = x86asm.Args{reg, x86asm.X0 + x86asm.Reg(v.vvvv), x86asm.X0 + x86asm.Reg(rm|v.rex&rexX<<3)}
		if memory {
			x.args = x86asm.Args{reg, x86asm.Mem{}}
		}
	case v.pp == 2 && v.w == 0 && (opcode == 0x6e || opcode == 0x7e) && v.vvvv == 0 && v.l == 0 && v.mask == 0:
		x.spell = &spellVmovw
		x.args = x86asm.Args{reg, x86asm.X0 + x86asm.Reg(rm|v.rex&rexX<<3)}
		if memory {
			x.args[1] = x86asm.Mem{}
		}
	case v.pp == 1 && (opcode == 0x6e || opcode == 0x7e) && v.vvvv == 0 && v.l == 0 && v.mask == 0:
		x.spell = &spellVmovw
		x.args = x86asm.Args{reg, x86asm.EAX + x86asm.Reg(rm)}
		switch {
		case memory:
			x.args[1] = x86asm.Mem{}
		case x.high&rexB != 0:
			x.highArgs = 2
		}
	default:
		return false
	}
	if opcode == 0x11 || opcode == 0x7e { // a store
		last := x.argCount() - 1
		x.args[0], x.args[last] = x.args[last], x.args[0]
		x.highArgs >>= last
	}
	return x.halfMem(2)
}
