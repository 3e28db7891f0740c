package amd64

import (
	"encoding/binary"
	"strconv"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// APX (Advanced Performance Extensions) has 16 more general registers, r16 to r31. A REX2 prefix has a fifth bit for
// the register numbers of legacy instructions. It is the last prefix and consists of the byte D5 and a payload:
//
//	M0 R4 X4 B4  W R3 X3 B3
//
// The low half is as in a REX prefix. R4, X4 and B4 extend R3, X3 and B3, and M0 selects the opcode map 0F.
const (
	rex2Prefix = 0xd5
	rex2Map0F  = 0x80
)

// scanREX2 reads the REX2 prefix that begins at x.code[x.n].
//
// Afterwards, the rest of the decoder sees a legacy instruction with a REX prefix. The byte x.code[x.n-1] takes the
// place of the REX prefix. Usually that is the payload. In map 0F it is D5, because the payload takes the place of the
// byte 0F of the opcode (see rex2Op).
func (x *x86) scanREX2() {
	p := &x.prefixes
	p.rex2, p.rex2At = true, int8(p.n)
	p.payload = x.code[p.n+1]
	p.rex = 0x40 | p.payload&15
	p.high = p.payload >> 4 & 7
	p.n++
	if p.payload&rex2Map0F == 0 {
		p.n++
	}
}

// rex2Op returns the instruction after a REX2 prefix, beginning with the opcode. In map 0F, the opcode begins with 0F
// as it does without REX2.
func (x *x86) rex2Op() []byte {
	op := x.code[x.n:min(len(x.code), maxInstLen)]
	if x.payload&rex2Map0F == 0 {
		return op
	}
	op = x.opCopy[:copy(x.opCopy[:], op)]
	op[0] = 0x0f
	return op
}

// decodeREX2 decodes an instruction with a REX2 prefix.
func (x *x86) decodeREX2() bool {
	x.op = x.rex2Op()
	return x.decodeJmpabs() || x.validREX2() && x.decodeLegacy()
}

// validREX2 reports whether the opcode may follow a REX2 prefix.
func (x *x86) validREX2() bool {
	op := x.op
	if op[0] != 0x0f {
		row := op[0] >> 4
		return row != 4 && row != 7 && row != 0xa && row != 0xe && op[0] != vex2 && op[0] != vex3 && op[0] != evex &&
			!isPrefix(op[0])
	}
	if x.payload&rex2Map0F == 0 || len(op) < 2 || op[1]>>4 == 3 || op[1]>>4 == 8 {
		return false
	}
	if len(op) > 2 && op[2] < 0xc0 && x.rep < 0 && x.data < 0 { // xsave, xrstor and their variants
		digit := op[2] >> 3 & 7
		return (op[1] != 0xae || digit < 4 || digit > 6) && (op[1] != 0xc7 || digit < 3 || digit > 5)
	}
	return true
}

var (
	spellJmpabs = spelling{att: "jmpabs", intel: "jmpabs", kind: asm.Jump, imm: immStack}
	spellPushp  = spelling{att: "pushp", intel: "pushp"}
	spellPopp   = spelling{att: "popp", intel: "popp"}
)

// decodeJmpabs decodes a jump to a 64-bit address, which has the opcode of a mov with a 64-bit address. It returns
// false for all other instructions.
func (x *x86) decodeJmpabs() bool {
	const opcode, size = 0xa1, 9
	if x.op[0] != opcode || len(x.op) < size || x.rex&rexW != 0 || x.data >= 0 || x.rep >= 0 || x.addr >= 0 ||
		x.lock >= 0 {
		return false
	}
	x.spell = &spellJmpabs
	x.args, x.dataSize, x.memBytes = x86asm.Args{x86asm.Imm(binary.LittleEndian.Uint64(x.op[1:]))}, 64, 0
	x.len = x.n + size
	x.use(int8(x.n - 1))
	return true
}

// extendLegacy finds the operands that the bits R4 and B4 of a REX2 prefix extend. The parameter in is the instruction
// that x86asm has decoded from fed, where rexAt is the position of the REX prefix.
func (x *x86) extendLegacy(in *x86asm.Inst, fed []byte, rexAt int) {
	if reg, rm, ok := x.operandPlaces(); ok {
		x.extendAt(in, rexR, reg)
		x.extendAt(in, rexB, rm)
		return
	}
	// x86asm does not say where an operand is encoded. So decode the instruction with another R3, and with another B3,
	// to see which operands differ.
	for _, bit := range [...]byte{rexR, rexB} {
		if x.high&bit|x.rex&bit == 0 {
			continue
		}
		var raw [maxInstLen + 4]byte
		other := raw[:copy(raw[:], fed)]
		other[rexAt] ^= bit
		changed, err := x86asm.Decode(other, 64)
		if err != nil || changed.Op != in.Op {
			continue
		}
		for i := range in.Args {
			if in.Args[i] != changed.Args[i] {
				x.extendAt(in, bit, i)
			}
		}
	}
}

// operandPlaces returns the indexes of the operands that are encoded in ModRM.reg, and in ModRM.rm or the opcode. An
// index is -1 if there is no such operand. operandPlaces returns false if it does not know the opcode.
func (x *x86) operandPlaces() (reg, rm int, ok bool) {
	const none = -1
	switch b := x.op[0]; {
	case b < 0x40 && b&7 < 4: // add … cmp
		return int(^b >> 1 & 1), int(b >> 1 & 1), true
	case b>>4 == 5, b>>4 == 0xb, b&0xfc == 0x80, b&^1 == 0xc0, b&^1 == 0xc6, b&^3 == 0xd0, b&^1 == 0xf6, b >= 0xfe:
		return none, 0, true // push, pop, mov of a constant, and groups
	case b >= 0x84 && b <= 0x89: // test, xchg, mov
		return 1, 0, true
	case b&^1 == 0x8a, b == 0x8d, b == 0x63, b == 0x69, b == 0x6b: // mov, lea, movslq, imul
		return 0, 1, true
	case b == 0x90 && x.spell == &x.names[x86asm.XCHG]: // without B3, the bytes are a nop
		return none, 0, true
	case b != 0x0f:
		return 0, 0, false
	}
	switch b := x.op[1]; {
	case b>>4 == 4, b == 0xaf, b&^1 == 0xb6, b == 0xb8, b >= 0xbc && b <= 0xbf: // cmov, imul, movzx, popcnt …
		return 0, 1, true
	case b>>4 == 9: // set
		return none, 0, true
	}
	return 0, 0, false
}

// extendAt records that operand i of an instruction of x86asm depends on a bit of the prefix. It does nothing if i is
// negative.
func (x *x86) extendAt(in *x86asm.Inst, bit byte, i int) {
	if i < 0 {
		return
	}
	x.usedREX |= bit
	if r, ok := in.Args[i].(x86asm.Reg); ok && x.high&bit != 0 {
		x.extend(i, r)
	}
}

// extendForm does the same as extendLegacy for operand i of an instruction in missingOps, which has the form f.
func (x *x86) extendForm(i int, f operandForm) {
	r, ok := x.args[i].(x86asm.Reg)
	if !ok || !x.rex2 || f >= impEAX {
		return
	}
	bit := byte(rexR)
	if f >= rmY {
		bit = rexB
	}
	x.usedREX |= bit
	if x.high&bit != 0 {
		x.extend(i, r)
	}
}

// extend records that operand i is the register whose number is 16 higher than that of r, if r is a general register.
// The bits have no effect on other registers.
func (x *x86) extend(i int, r x86asm.Reg) {
	if regBits(r) > 0 {
		x.highArgs |= 1 << i
	}
}

// settleREX2 decides whether the REX2 prefix is printed by name. objdump prints the name if an instruction does not use
// all bits of the prefix, or does not need it because it has none of the registers r16 to r31. The operands must be
// known.
func (x *x86) settleREX2() {
	at := int8(x.n - 1)
	if x.spell == &spellJmpabs || x.isPushp() {
		x.use(at)
		return
	}
	if x.used>>at&1 != 0 && !x.spell.noW { // usePrefixes has found that the bits of REX have an effect
		x.usedREX |= rexW
	}
	if x.mem.ok {
		x.usedREX |= rexB
		if x.mem.sib {
			x.usedREX |= rexX
		}
	}
	x.use(at)
	if x.high == 0 || x.unusedREX2() {
		x.used &^= 1 << at
	}
}

// unusedREX2 reports whether a bit of the REX2 prefix is set that has no effect.
func (x *x86) unusedREX2() bool { return (x.rex&15|x.high)&^x.usedREX != 0 }

// isPushp reports whether the instruction is pushp or popp: a push or pop of a register that REX2.W marks as one of a
// balanced pair.
func (x *x86) isPushp() bool {
	return x.rex2 && x.rex&rexW != 0 && x.op[0]&0xf0 == 0x50
}

// rex2Name returns the name of the REX2 prefix, with the payload if some of its bits have no effect.
func (x *x86) rex2Name() string {
	if !x.unusedREX2() {
		return "{rex2}"
	}
	return "{rex2 " + string(asm.AppendHex(nil, uint64(x.payload))) + "}"
}

// gprName returns the name of a general register. If high is set, its number is 16 higher than that of r.
func (x *x86) gprName(r x86asm.Reg, high bool) string {
	if high {
		return highNames[x.syntax][r]
	}
	return x.regName(r)
}

var highNames = [...][256]string{asm.ATT: makeHighNames("%"), asm.Intel: makeHighNames("")}

// makeHighNames returns the names of r16 to r31 and their parts, indexed by the register whose number is 16 lower.
func makeHighNames(mark string) (names [256]string) {
	bytes := []x86asm.Reg{
		x86asm.AL, x86asm.CL, x86asm.DL, x86asm.BL, x86asm.SPB, x86asm.BPB, x86asm.SIB, x86asm.DIB,
	}
	for i := range x86asm.Reg(8) {
		bytes = append(bytes, x86asm.R8B+i)
	}
	for i, b := range bytes {
		name := mark + "r" + strconv.Itoa(16+i)
		names[b] = name + "b"
		names[x86asm.AX+x86asm.Reg(i)] = name + "w"
		names[x86asm.EAX+x86asm.Reg(i)] = name + "d"
		names[x86asm.RAX+x86asm.Reg(i)] = name
	}
	return names
}
