package amd64

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// decodeLegacy decodes an instruction without a VEX or EVEX prefix.
//
// decodeLegacy passes to x86asm only the prefixes that can change the meaning of the opcode, and each of them only
// once. x86asm treats the other prefixes differently from objdump, so appendPrefixNames prints their names before the
// instruction.
func (x *x86) decodeLegacy() bool {
	if x.shortBranch() || x.decodeMissing() {
		return true
	}
	var raw [maxInstLen + 4]byte
	fed := raw[:0]
	for _, i := range [...]int8{x.addr, x.data, x.rep} {
		if i >= 0 {
			fed = append(fed, x.code[i])
		}
	}
	if x.rex != 0 {
		fed = append(fed, x.rex)
	}
	head := len(fed)
	fed = append(fed, x.op...)
	alias(fed[head:])
	in, err := x86asm.Decode(fed, 64)
	if err != nil || in.Op == 0 || in.Len <= head {
		return false
	}
	x.len = x.n + in.Len - head
	x.take(&in)
	if x.rex2 {
		x.extendLegacy(&in, fed, head-1)
	}
	x.usePrefixes(&in)
	x.respell(in.Op)
	if x.hasModRMMem() {
		x.use(x.addr)
		return x.readMem(opcodeLen(x.op), x.rex) > 0
	}
	return true
}

// alias replaces an opcode extension (ModRM.reg) that x86asm does not know with an equivalent one. For example, F6 /1
// is the same test as F6 /0, and C0 /6 is the same shl as C0 /4.
func alias(op []byte) {
	if len(op) < 2 {
		return
	}
	switch digit := op[1] >> 3 & 7; {
	case op[0]&^1 == 0xf6 && digit == 1: // test
		op[1] &^= 0x38
	case (op[0]&^1 == 0xc0 || op[0]&^3 == 0xd0) && digit == 6: // shl
		op[1] &^= 0x10
	}
}

// take copies the fields that print needs from x86asm's result.
func (x *x86) take(in *x86asm.Inst) {
	x.spell = &x.names[in.Op]
	x.args = in.Args
	x.dataSize = in.DataSize
	x.memBytes = in.MemBytes
}

// opcodeLen returns the length of a legacy opcode without prefixes. The result is smaller if the input ends in the
// middle of the opcode.
func opcodeLen(op []byte) int {
	switch {
	case op[0] != 0x0f || len(op) < 2:
		return 1
	case op[1] == 0x38 || op[1] == 0x3a:
		return min(3, len(op))
	}
	return 2
}

// hasModRMMem reports whether ModRM describes a memory operand. String instructions and mov with an absolute address
// have memory operands too, but no ModRM byte.
func (x *x86) hasModRMMem() bool {
	if x.spell.implied || x.isMoffs() {
		return false
	}
	for _, a := range x.args {
		if _, ok := a.(x86asm.Mem); ok {
			return true
		}
	}
	return false
}

// usePrefixes marks the prefixes that already affect the text of the instruction, as 66 does in "add %ax,%bx". Marked
// prefixes are not printed by name.
func (x *x86) usePrefixes(in *x86asm.Inst) {
	for i := range in.Prefix {
		p := in.Prefix[i]
		if p == 0 {
			break
		}
		if p&x86asm.PrefixImplicit == 0 {
			continue
		}
		switch b := byte(p); {
		case b == prefixData:
			x.use(x.data)
		case b == prefixAddr:
			x.use(x.addr)
		case b == prefixRepe || b == prefixRepne:
			x.use(x.rep)
		case b&0xf0 == 0x40:
			x.use(int8(x.n - 1))
		}
	}
}

// shortBranch decodes near branches with an operand-size prefix (66). With this prefix, AMD's processors and objdump
// read a 16-bit offset, and truncate the target to 16 bits. shortBranch returns false for all other instructions.
func (x *x86) shortBranch() bool {
	n := opcodeLen(x.op)
	b := x.op[n-1]
	near := n == 1 && (b == 0xe8 || b == 0xe9) || n == 2 && b&0xf0 == 0x80
	if !near || x.data < 0 || x.rex&rexW != 0 || len(x.op) < n+2 {
		return false
	}
	fed := [6]byte{x.op[0], b}
	in, err := x86asm.Decode(fed[:n+4], 64)
	if err != nil {
		return false
	}
	x.use(x.data)
	x.take(&in)
	x.dataSize = 16
	x.len = x.n + n + 2
	x.args[0] = x86asm.Rel(int16(binary.LittleEndian.Uint16(x.op[n:])))
	x.branch16 = true
	return true
}

// respell changes the spelling of instructions whose text also depends on their encoding. For example, mov with a
// 64-bit immediate is movabs.
func (x *x86) respell(op x86asm.Op) {
	b := x.op[0]
	switch {
	case b == 0x90:
		x.respellNop()
	case b&0xf8 == 0xb8 && x.rex&rexW != 0:
		x.spell = &spellMovabs
	case x.isMoffs():
		x.respellMoffs()
	case b&^1 == 0xd0:
		x.args[1] = nil
		x.one = x.syntax == asm.Intel || x.rex2
	case b&0xf8 == 0xd8:
		x.respellFloat(op)
	case b == 0xcc:
		x.spell, x.args[0] = &spellInt3, nil
	case b == 0x63 && x.rex&rexW != 0:
		x.spell = &spellMovslq
	case b&^1 == 0xca && x.rex == 0x40|rexW:
		x.spell = &spellLretq
		x.use(int8(x.n - 1))
	case op == x86asm.SYSRET && x.rex == 0x40|rexW:
		x.spell = &spellSysret
		x.use(int8(x.n - 1))
	case x.isPushp():
		x.spell = &spellPushp
		if op == x86asm.POP {
			x.spell = &spellPopp
		}
	case (op == x86asm.PUSH || op == x86asm.POP) && x.dataSize == 16:
		x.use(x.data)
	}
}

// isMoffs reports whether the operand is an absolute address of 64 bits, or of 32 bits with an address-size prefix.
func (x *x86) isMoffs() bool {
	return x.op[0]&^3 == 0xa0 && !x.rex2
}

func (x *x86) respellMoffs() {
	x.spell = &spellMovabs
	if x.addr >= 0 {
		x.spell = &spellMov
		x.used &^= 1 << x.addr
	}
	if x.op[0]&1 == 0 { // the operand is %al, whatever the prefixes say
		if x.rex != 0 {
			x.used &^= 1 << (x.n - 1)
		}
		if x.data >= 0 {
			x.used &^= 1 << x.data
		}
	}
}

// regFieldIsOpcode reports whether ModRM.reg is part of the opcode. If it is, REX.R has no effect, and the REX prefix
// is printed by name.
func (x *x86) regFieldIsOpcode() bool {
	if x.vec.form != 0 {
		return false
	}
	switch b := x.op[0]; {
	case b == 0x0f:
		return len(x.op) > 1 && bytes.IndexByte(groupOpcodes0F, x.op[1]) >= 0
	default:
		return b&0xf8 == 0xd8 || bytes.IndexByte(groupOpcodes, b) >= 0
	}
}

// The opcodes for which ModRM.reg is part of the opcode. In map 0F, some of them ignore ModRM.reg.
var (
	groupOpcodes   = []byte("\x80\x81\x82\x83\x8f\xc0\xc1\xc6\xc7\xd0\xd1\xd2\xd3\xf6\xf7\xfe\xff")
	groupOpcodes0F = []byte("\x00\x01\x18\x71\x72\x73" +
		"\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\xae\xba\xc7")
)

// respellNop distinguishes nop (90), pause (F3 90), and xchg of a register with itself (66 90: "xchg %ax,%ax").
func (x *x86) respellNop() {
	if x.spell != &x.names[x86asm.NOP] {
		return
	}
	x.used = 0
	if x.data < 0 && (x.rex == 0 || x.rex == 0x48 || x.rex2) {
		return
	}
	r := x86asm.EAX
	switch {
	case x.rex&rexW != 0:
		r = x86asm.RAX
	case x.data >= 0:
		r = x86asm.AX
		x.use(x.data)
	}
	x.spell = &x.names[x86asm.XCHG]
	x.args[0], x.args[1] = r, r
}

// respellFloat handles the peculiarities of x87: a preceding fwait, 80-bit operands, and AT&T's reversed
// subtractions.
func (x *x86) respellFloat(op x86asm.Op) {
	b, modrm := x.op[0], x.op[1]
	if x.waits {
		if s, ok := waitingSpellings[op]; ok {
			x.spell = &s
		}
	}
	switch {
	case b == 0xdb && modrm < 0xc0 && modrm>>3&5 == 5:
		x.memBytes = 10
	case (b == 0xdc || b == 0xde) && modrm >= 0xe0 && x.syntax == asm.ATT:
		x.reverse()
	}
}

// reverse swaps fsub with fsubr and fdiv with fdivr if the destination is not the top of the stack. AT&T's assembler
// mixed up the two names, and GNU's tools keep that for compatibility.
func (x *x86) reverse() {
	for i, s := range [...]*spelling{
		&x.names[x86asm.FSUB], &x.names[x86asm.FSUBR], &x.names[x86asm.FDIV], &x.names[x86asm.FDIVR],
		&x.names[x86asm.FSUBP], &x.names[x86asm.FSUBRP], &x.names[x86asm.FDIVP], &x.names[x86asm.FDIVRP],
	} {
		if s == x.spell {
			x.spell = &x.names[reversedOps[i]]
			return
		}
	}
}

var reversedOps = [...]x86asm.Op{
	x86asm.FSUBR, x86asm.FSUB, x86asm.FDIVR, x86asm.FDIV, x86asm.FSUBRP, x86asm.FSUBP, x86asm.FDIVRP, x86asm.FDIVP,
}
