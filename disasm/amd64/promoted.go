package amd64

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// A promotedInst is an instruction on general registers with an EVEX prefix. APX has promoted instructions from the
// legacy maps into map 4, and has given an EVEX prefix to those with a VEX prefix. The prefix can have new bits:
//
//   - ND, a new data destination: "add %eax,%ebx,%ecx" stores the sum of the first two registers in the third. In a few
//     instructions, the same bit makes the rest of the destination zero ("imulzu", "setzue").
//   - NF: the flags stay as they are ("{nf} add …").
//   - A condition and default flags, in ccmp and ctest: "ccmpe {dfv=cf} …".
type promotedInst struct {
	mapNo, opcode byte
	pp            ppSet
	bits          promotedBits
	digit         byte             // ModRM.reg, if bits has isGroup
	bytes         uint8            // size of the memory operand, if its form is formEk
	operands      promotedOperands // in the order of Intel syntax
	op            x86asm.Op        // the operation; 0 if x86asm does not have it
	spell         *spelling        // the spelling if op is 0
	conditions    *[16]spelling    // the spellings by condition, if bits has hasCond
}

// promotedOperands are the operands of a promotedInst in the order of Intel syntax, terminated by 0.
type promotedOperands [4]promotedForm

// A ppSet has bit i set if the field pp of the prefix may be i.
type ppSet byte

const (
	ppNone   ppSet = 1 << 0
	pp66     ppSet = 1 << 1
	ppF3     ppSet = 1 << 2
	ppF2     ppSet = 1 << 3
	ppNone66       = ppNone | pp66 // the prefix is none or 66, which makes the operands 16 bits wide
)

// promotedBits say which bits the prefix may have, and what else an instruction requires. A bit that they do not
// mention must be clear, except for W.
type promotedBits uint16

const (
	addsND  promotedBits = 1 << iota // ND may be set; then the register vvvv is one more operand, the first
	needND                           // ND must be set
	mayNF                            // NF may be set
	needNF                           // NF must be set
	needW0                           // W must be clear
	needW1                           // W must be set
	usesV                            // an operand is the register vvvv
	hasCond                          // the prefix has a condition and default flags
	isGroup                          // ModRM.reg selects the instruction
	memOnly                          // ModRM.rm must be memory
	regOnly                          // ModRM.rm must be a register
	needSIB                          // the memory operand must have a SIB byte
	noMark                           // never marked {evex} or {nf}
	isPair                           // push2 or pop2, which accept no %rsp
)

// A promotedForm says where an operand is encoded, and its width. As in the manual, E is ModRM.rm, G is ModRM.reg,
// B is vvvv, M is ModRM.rm if it must be memory, and I is an immediate.
type promotedForm uint8

const (
	placeE promotedForm = (iota + 1) << 4
	placeG
	placeB
	placeM
	placeI
	placeOne // the 1 of a shift by one
	placeCL
	places = 0xf0
)

const (
	widthB promotedForm = iota + 1 // 8 bits
	widthV                         // 64 bits with W, 16 bits with 66, else 32 bits
	widthY                         // 64 bits with W, else 32 bits
	widthD                         // 32 bits
	widthQ                         // 64 bits
	widthA                         // as wide as an address
	widthK                         // a mask register, or memory
	widthT                         // a tile
	widthS                         // an immediate of 8 bits that is sign-extended
	widthO                         // 16 bytes
	widthN                         // memory whose size is not printed
	widths = 0x0f
)

const (
	formEb, formEv, formEy, formEq = placeE | widthB, placeE | widthV, placeE | widthY, placeE | widthQ
	formGb, formGv, formGy, formGq = placeG | widthB, placeG | widthV, placeG | widthY, placeG | widthQ
	formGa, formGd, formGk, formGt = placeG | widthA, placeG | widthD, placeG | widthK, placeG | widthT
	formBy, formBq, formEk, formEd = placeB | widthY, placeB | widthQ, placeE | widthK, placeE | widthD
	formMb, formMv, formMy, formMo = placeM | widthB, placeM | widthV, placeM | widthY, placeM | widthO
	formIb, formIv, formIs, formId = placeI | widthB, placeI | widthV, placeI | widthS, placeI | widthD
	formM                          = placeM | widthN
)

// decodePromoted decodes an instruction of promotedInsts. The argument found has those of them that have the
// instruction's opcode. It returns false if none of them matches. The caller has checked that the opcode and the ModRM
// byte exist.
func (x *x86) decodePromoted(found []promotedInst) bool {
	v := &x.vec
	if v.l != 0 || v.zero {
		return false
	}
	for i := range found {
		if p := &found[i]; p.matches(v, x.op[5]) {
			return x.applyPromoted(p)
		}
	}
	return false
}

// matches reports whether an instruction with the prefix v and the ModRM byte modrm is p.
func (p *promotedInst) matches(v *vector, modrm byte) bool {
	has := func(b promotedBits) bool { return p.bits&b != 0 }
	nd, nf, reg := v.bcst, v.mask&4 != 0, modrm >= 0xc0
	switch {
	case p.pp>>v.pp&1 == 0,
		has(needW0) && v.w != 0, has(needW1) && v.w == 0,
		has(isGroup) && p.digit != modrm>>3&7,
		has(memOnly) && reg, has(regOnly) && !reg,
		nd && !has(addsND|needND), !nd && has(needND):
		return false
	case has(hasCond): // the other bits are the condition and the flags
		return true
	}
	return v.mask&3 == 0 && (nf || !has(needNF)) && (!nf || has(mayNF|needNF)) &&
		(v.vvvv == 0 || has(usesV) || nd && has(addsND))
}

// applyPromoted sets the operands, the spelling and the length of the instruction in x, as p describes them. It returns
// false if the input is too short, or if the operands are invalid.
func (x *x86) applyPromoted(p *promotedInst) bool {
	v := &x.vec
	n := x.readMem(5, v.rex)
	if n == 0 || p.bits&needSIB != 0 && !x.mem.sib {
		return false
	}
	x.len = x.n + 5 + n
	x.args, x.memBytes, x.dataSize = x86asm.Args{}, 0, x.widthBits(widthV)
	if x.mem.ok {
		x.use(x.addr)
	}
	at := 0
	if v.bcst && p.bits&addsND != 0 {
		x.promotedArg(p, 0, placeB|p.operands[0]&widths)
		at = 1
	}
	for _, form := range p.operands {
		if form == 0 {
			break
		}
		if !x.promotedArg(p, at, form) {
			return false
		}
		at++
	}
	x.spellPromoted(p)
	v.promoted, v.mask, v.bcst = true, 0, false
	return p.bits&isPair == 0 || x.validPair(p)
}

// validPair reports whether push2 or pop2 may have its two registers: neither may be rsp, and those of pop2 must
// differ.
func (x *x86) validPair(p *promotedInst) bool {
	const rsp = 4
	first, second := x.vec.vvvv, x.op[5]&7|x.vec.rex&rexB<<3|x.high&rexB<<4
	return first != rsp && second != rsp && (first != second || p.opcode == pushOpcode)
}

// widthBits returns the width in bits of a register or an immediate.
func (x *x86) widthBits(width promotedForm) int {
	switch {
	case width == widthB:
		return 8
	case width == widthQ, (width == widthV || width == widthY || width == widthS) && x.vec.w == 1:
		return 64
	case width == widthA && x.addr < 0:
		return 64
	case (width == widthV || width == widthS) && x.vec.pp == 1:
		return 16
	}
	return 32
}

// promotedArg sets operand i of p. It returns false if the input is too short.
func (x *x86) promotedArg(p *promotedInst, i int, form promotedForm) bool {
	v, modrm, width := &x.vec, x.op[5], form&widths
	switch form & places {
	case placeG:
		x.setPromoted(i, width, modrm>>3&7|v.rex&rexR<<1, x.high&rexR != 0)
	case placeB:
		x.setPromoted(i, width, v.vvvv&15, v.vvvv&16 != 0)
	case placeI:
		return x.promotedImm(i, width)
	case placeOne:
		x.one = true
	case placeCL:
		x.args[i] = x86asm.CL
	default: // placeE, placeM
		if !x.mem.ok {
			x.setPromoted(i, width, modrm&7|v.rex&rexB<<3, x.high&rexB != 0)
			break
		}
		x.args[i] = x86asm.Mem{}
		switch width {
		case widthK:
			x.memBytes = int(p.bytes)
		case widthO:
			x.memBytes = owordSize
		case widthN:
		default:
			x.memBytes = x.widthBits(width) / 8
		}
	}
	return true
}

// firstTile is the first of the eight registers of AMX, tmm0 to tmm7. x86asm doesn't have them.
const firstTile = x86asm.TR7 + 1

// setPromoted sets operand i to a register. If high is true and it is a general register, its number is number+16.
func (x *x86) setPromoted(i int, width promotedForm, number byte, high bool) {
	r := x86asm.Reg(number)
	switch {
	case width == widthK:
		x.args[i] = x86asm.K0 + r&7
		return
	case width == widthT:
		x.args[i] = firstTile + r&7
		return
	}
	switch bits := x.widthBits(width); {
	case bits == 8 && number >= 8:
		x.args[i] = x86asm.R8B - 8 + r
	case bits == 8 && number >= 4:
		x.args[i] = x86asm.SPB - 4 + r
	case bits == 8:
		x.args[i] = x86asm.AL + r
	case bits == 16:
		x.args[i] = x86asm.AX + r
	case bits == 32:
		x.args[i] = x86asm.EAX + r
	default:
		x.args[i] = x86asm.RAX + r
	}
	if high {
		x.highArgs |= 1 << i
	}
}

// promotedImm reads an immediate at the end of the instruction, and sets operand i to it.
func (x *x86) promotedImm(i int, width promotedForm) bool {
	size := 1
	if width == widthV || width == widthD {
		size = min(x.widthBits(width), 32) / 8
	}
	rest := x.op[x.len-x.n:]
	if len(rest) < size {
		return false
	}
	x.len += size
	switch size {
	case 1:
		x.args[i] = x86asm.Imm(int8(rest[0]))
	case 2:
		x.args[i] = x86asm.Imm(int16(binary.LittleEndian.Uint16(rest)))
	default:
		x.args[i] = x86asm.Imm(int32(binary.LittleEndian.Uint32(rest)))
	}
	return true
}

// spellPromoted sets the spelling of p, and what is printed before and after the mnemonic. An instruction is marked
// {evex} if an assembler would not choose EVEX for it.
func (x *x86) spellPromoted(p *promotedInst) {
	v := &x.vec
	legacy := v.mapNo == 4
	x.spell = p.spell
	if p.op != 0 {
		x.spell = &x.names[p.op]
	}
	switch {
	case p.bits&hasCond != 0:
		x.spell = &p.conditions[x.op[3]&15]
		x.flags = defaultFlags[v.vvvv&15^15]
	case p.bits&noMark != 0:
	case v.mask != 0:
		x.mark = "{nf} "
	case x.high != 0, legacy && v.bcst, !legacy && v.vvvv > 15,
		!legacy && p.bits&mayNF == 0 && v.rex&rexX != 0 && !x.mem.ok:
	default:
		x.mark = "{evex} "
	}
}
