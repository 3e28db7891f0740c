package amd64

import "golang.org/x/arch/x86/x86asm"

// avx10Insts has instructions of AVX10.2 in the same form as halfInsts: instructions on bfloat16 numbers, conversions
// to and from 8-bit floating-point numbers (bf8, hf8), and conversions that saturate. groupsAVX10 adds the large
// groups.
var avx10Insts = []halfInst{
	{5, 0x2e, 2, 0, "vucomxsh", scalar1, false, scalar1, 2},
	{5, 0x2f, 2, 0, "vcomxsh", scalar1, false, scalar1, 2},
	{5, 0x2f, 1, 0, "vcomisbf16", scalar1, false, scalar1, 2},
	{5, 0x51, 1, 0, "vsqrtbf16", full, false, full, 2},
	{6, 0x2c, 0, 0, "vscalefbf16", full, true, full, 2},
	{6, 0x42, 0, 0, "vgetexpbf16", full, false, full, 2},
	{6, 0x4c, 0, 0, "vrcpbf16", full, false, full, 2},
	{6, 0x4e, 0, 0, "vrsqrtbf16", full, false, full, 2},

	{5, 0x68, 3, 0, "vcvttbf162ibs", full, false, full, 2},
	{5, 0x69, 3, 0, "vcvtbf162ibs", full, false, full, 2},
	{5, 0x6a, 3, 0, "vcvttbf162iubs", full, false, full, 2},
	{5, 0x6b, 3, 0, "vcvtbf162iubs", full, false, full, 2},
	{5, 0x68, 0, 0, "vcvttph2ibs", full, false, full, 2},
	{5, 0x69, 0, 0, "vcvtph2ibs", full, false, full, 2},
	{5, 0x6a, 0, 0, "vcvttph2iubs", full, false, full, 2},
	{5, 0x6b, 0, 0, "vcvtph2iubs", full, false, full, 2},
	{5, 0x68, 1, 0, "vcvttps2ibs", full, false, full, 4},
	{5, 0x69, 1, 0, "vcvtps2ibs", full, false, full, 4},
	{5, 0x6a, 1, 0, "vcvttps2iubs", full, false, full, 4},
	{5, 0x6b, 1, 0, "vcvtps2iubs", full, false, full, 4},

	{5, 0x6c, 0, 0, "vcvttps2udqs", full, false, full, 4},
	{5, 0x6d, 0, 0, "vcvttps2dqs", full, false, full, 4},
	{5, 0x6c, 0, 1, "vcvttpd2udqs", half, false, full, 8},
	{5, 0x6d, 0, 1, "vcvttpd2dqs", half, false, full, 8},
	{5, 0x6c, 1, 0, "vcvttps2uqqs", full, false, half, 4},
	{5, 0x6d, 1, 0, "vcvttps2qqs", full, false, half, 4},
	{5, 0x6c, 1, 1, "vcvttpd2uqqs", full, false, full, 8},
	{5, 0x6d, 1, 1, "vcvttpd2qqs", full, false, full, 8},
	{5, 0x6c, 2, anyW, "vcvttss2usis", general, false, scalar1, 4},
	{5, 0x6d, 2, anyW, "vcvttss2sis", general, false, scalar1, 4},
	{5, 0x6c, 3, anyW, "vcvttsd2usis", general, false, scalar1, 8},
	{5, 0x6d, 3, anyW, "vcvttsd2sis", general, false, scalar1, 8},

	{5, 0x1e, 3, 0, "vcvthf82ph", full, false, half, 1},
	{5, 0x36, 0, 0, "vcvthf82ps", full, false, quarter, 1},
	{5, 0x36, 0, 1, "vcvtbf82ps", full, false, quarter, 1},
	{5, 0x37, 0, 0, "vcvtbf42hf8", full, false, half, 1},
	{5, 0x38, 1, 0, "vcvtrops2hf8", quarter, false, full, 4},
	{5, 0x3a, 1, 0, "vcvtrops2hf8s", quarter, false, full, 4},

	{5, 0x6f, 3, 0, "vmovrsb", full, false, full, 1},
	{5, 0x6f, 3, 1, "vmovrsw", full, false, full, 1},
	{5, 0x6f, 2, 0, "vmovrsd", full, false, full, 1},
	{5, 0x6f, 2, 1, "vmovrsq", full, false, full, 1},
}

// eightBit are the 8-bit formats to which conversions exist: bf8 (E5M2) and hf8 (E4M3), with and without saturation.
var eightBit = [...]struct {
	name             string
	fromHalf, single byte // opcodes of conversions from 16-bit and from 32-bit numbers
	mapNo            byte // of the conversions from 16-bit numbers
}{
	{"bf8", 0x74, 0x39, 2},
	{"bf8s", 0x74, 0x3b, 5},
	{"hf8", 0x18, 0x38, 5},
	{"hf8s", 0x1b, 0x3a, 5},
}

// groupsAVX10 returns avx10Insts and the instructions of the large groups.
func groupsAVX10() []halfInst {
	all := avx10Insts
	for op, name := range map[byte]string{
		0x58: "vaddbf16", 0x59: "vmulbf16", 0x5c: "vsubbf16", 0x5d: "vminbf16", 0x5e: "vdivbf16", 0x5f: "vmaxbf16",
	} {
		all = append(all, halfInst{5, op, 1, 0, name, full, true, full, 2})
	}
	for i, order := range [...]string{"132", "213", "231"} { // at opcodes 98, A8 and B8
		for j, name := range [...]string{"vfmadd", "vfmsub", "vfnmadd", "vfnmsub"} {
			op := byte(0x98 + i*0x10 + 2*j)
			all = append(all, halfInst{6, op, 0, 0, name + order + "bf16", full, true, full, 2})
		}
	}
	for _, f := range eightBit {
		all = append(all,
			halfInst{f.mapNo, f.fromHalf, 0, 0, "vcvtbiasph2" + f.name, half, true, full, 2},
			halfInst{f.mapNo, f.fromHalf, 2, 0, "vcvtph2" + f.name, half, false, full, 2},
			halfInst{f.mapNo, f.fromHalf, 3, 0, "vcvt2ph2" + f.name, full, true, full, 2},
			halfInst{5, f.single, 0, 0, "vcvtbiasps2" + f.name, quarter, true, full, 4},
			halfInst{5, f.single, 2, 0, "vcvtps2" + f.name, quarter, false, full, 4})
	}
	return all
}

var spellVmovd = spelling{att: "vmovd", intel: "vmovd", onlyEVEX: true}

// decodeVmovd decodes vmovd between two xmm registers, or between one and memory. x86asm only knows vmovd of a general
// register, which has other opcodes. decodeVmovd returns false for all other instructions.
func (x *x86) decodeVmovd(opcode, modrm byte) bool {
	v := &x.vec
	load, store := opcode == 0x7e && v.pp == 2, opcode == 0xd6 && v.pp == 1
	if v.form != evex || v.mapNo != 1 || !load && !store || v.w|v.l|v.mask|v.vvvv != 0 || v.bcst {
		return false
	}
	x.spell, x.dataSize, x.memBytes = &spellVmovd, 0, 4
	x.args = x86asm.Args{x86asm.X0 + x86asm.Reg(x.halfRegNumber(modrm))}
	if modrm < 0xc0 {
		x.args[1] = x86asm.Mem{}
	} else {
		x.args[1] = x86asm.X0 + x86asm.Reg(modrm&7|v.rex&rexB<<3|v.rex&rexX<<3)
	}
	if store {
		x.args[0], x.args[1] = x.args[1], x.args[0]
	}
	return x.halfMem(x.memBytes)
}
