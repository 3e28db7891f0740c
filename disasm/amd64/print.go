package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// print appends the text of the decoded instruction.
func (x *x86) print() {
	start := len(x.buf)
	x.settlePrefixes()
	x.appendPrefixNames(x.n)
	x.appendMnemonic()
	end := len(x.buf)
	for len(x.buf)-start < 6 {
		x.buf = append(x.buf, ' ')
	}
	x.buf = append(x.buf, ' ')
	if x.args[0] == nil {
		x.buf = x.buf[:end]
		return
	}
	if x.syntax == asm.Intel {
		x.appendArgsIntel()
	} else {
		x.appendArgsATT()
	}
	if x.mem.rip {
		x.buf = asm.AppendHex(append(x.buf, "        # "...), x.ripTarget())
	}
}

func (x *x86) argCount() int {
	n := 0
	for n < len(x.args) && x.args[n] != nil {
		n++
	}
	return n
}

func (x *x86) appendArgsATT() {
	if x.spell.inOrder {
		x.appendArgsIntel()
		return
	}
	round, rounded := x.rounding(), x.roundedArg()
	general := x.generalReg(rounded)
	if x.one {
		x.buf = append(x.buf, "$1,"...)
	}
	for i := x.argCount() - 1; i >= 0; i-- {
		if i == rounded && round != "" && !general {
			x.buf = append(append(x.buf, round...), ',')
		}
		x.appendArg(i)
		if i > 0 {
			x.buf = append(x.buf, ',')
		}
		if i == rounded && round != "" && general {
			x.buf = append(append(x.buf, round...), ',')
		}
	}
}

func (x *x86) appendArgsIntel() {
	round, rounded := x.rounding(), x.roundedArg()
	for i := range x.argCount() {
		if i > 0 {
			x.buf = append(x.buf, ',')
		}
		x.appendArg(i)
		if i == rounded {
			x.buf = append(x.buf, round...)
		}
	}
	if x.one {
		x.buf = append(x.buf, ",1"...)
	}
}

func (x *x86) appendArg(i int) {
	switch a := x.args[i].(type) {
	case x86asm.Reg:
		if x.syntax == asm.ATT && x.spell.indirect {
			x.buf = append(x.buf, '*')
		}
		if a == x86asm.DX && x.spell.port && x.syntax == asm.ATT {
			x.buf = append(x.buf, "(%dx)"...)
			break
		}
		x.buf = append(x.buf, x.gprName(a, x.highArgs>>i&1 != 0)...)
		if a == x86asm.F0 && x.isEncodedST(i) {
			x.buf = append(x.buf, "(0)"...)
		}
	case x86asm.Imm:
		if x.syntax == asm.ATT {
			x.buf = append(x.buf, '$')
		}
		x.buf = asm.AppendHex(x.buf, x.imm(int64(a)))
	case x86asm.Rel:
		x.buf = asm.AppendHex(x.buf, x.target(a))
	case x86asm.Mem:
		x.appendMem(a)
	}
	if i == 0 && x.vec.form == evex {
		x.appendMask()
	}
}

// isEncodedST reports whether x87 operand i is encoded in the instruction, as opposed to implied. If the top of the
// stack is encoded, it is written as %st(0), otherwise as %st: "fcomip %st(0),%st".
func (x *x86) isEncodedST(i int) bool {
	if x.args[1] == nil {
		return true
	}
	return i == 0 == (x.op[0] == 0xdc || x.op[0] == 0xde)
}

func (x *x86) appendMem(m x86asm.Mem) {
	if x.syntax == asm.ATT {
		if x.spell.indirect {
			x.buf = append(x.buf, '*')
		}
		if x.mem.ok {
			x.appendMemATT()
			x.appendBroadcastMark()
		} else {
			x.appendImpliedATT(m)
		}
		return
	}
	x.buf = append(x.buf, x.ptrName()...)
	if x.mem.ok {
		x.appendMemIntel()
		x.appendBroadcastMark()
	} else {
		x.appendImpliedIntel(m)
	}
}

func (x *x86) appendBroadcastMark() {
	elem := x.broadcastBytes()
	if elem > 0 && (x.syntax == asm.ATT || x.spell.suffix == suffixClass ||
		x.spell.suffix == suffixVector && x.vec.l < 2) {
		x.appendBroadcast(elem)
	}
}

// ptrName returns the size keyword before a memory operand in Intel syntax, with a trailing blank: "DWORD PTR ". It
// returns "" if the size is not printed.
func (x *x86) ptrName() string {
	size := x.memBytes
	if x.spell.mem != 0 {
		size = int(x.spell.mem)
	}
	if size < 0 || size >= len(ptrNames) {
		return ""
	}
	if x.broadcastBytes() > 0 {
		return bcstNames[size]
	}
	return ptrNames[size]
}

// appendImpliedATT appends the operand of a string instruction, or an absolute address.
func (x *x86) appendImpliedATT(m x86asm.Mem) {
	if m.Base == 0 {
		x.buf = append(x.buf, x.segment()...)
		x.buf = asm.AppendHex(x.buf, uint64(m.Disp))
		return
	}
	x.buf = append(x.buf, x.impliedSegment(m)...)
	x.buf = append(x.buf, '(')
	x.buf = append(append(x.buf, x.regName(m.Base)...), ')')
}

func (x *x86) appendImpliedIntel(m x86asm.Mem) {
	if m.Base == 0 {
		seg := x.segment()
		if seg == "" {
			seg = "ds:"
		}
		x.buf = asm.AppendHex(append(x.buf, seg...), uint64(m.Disp))
		return
	}
	x.buf = append(x.buf, x.impliedSegment(m)...)
	x.buf = append(x.buf, '[')
	x.buf = append(append(x.buf, x.regName(m.Base)...), ']')
}

// impliedSegment returns the segment of a string instruction's operand and a colon, such as "%es:". A prefix can
// override only the segment of the source operand.
func (x *x86) impliedSegment(m x86asm.Mem) string {
	if m.Segment == x86asm.ES {
		return [...]string{asm.ATT: "%es:", asm.Intel: "es:"}[x.syntax]
	}
	if seg := x.segment(); seg != "" {
		return seg
	}
	return [...]string{asm.ATT: "%ds:", asm.Intel: "ds:"}[x.syntax]
}

// imm returns the immediate v as objdump prints it: unsigned and truncated to the width of the operation. For example,
// the immediate -1 of an addl is printed as 0xffffffff.
func (x *x86) imm(v int64) uint64 {
	bits := 8
	switch x.spell.imm {
	case immOperand:
		bits = x.argBits(0)
	case immWord:
		bits = 16
	case immDword:
		bits = 32
	case immStack:
		bits = 64
		if x.dataSize == 16 {
			bits = 16
		}
	}
	if bits == 64 {
		return uint64(v)
	}
	return uint64(v) & (1<<bits - 1)
}

// argBits returns the width of operand i in bits.
func (x *x86) argBits(i int) int {
	if r, ok := x.args[i].(x86asm.Reg); ok {
		return regBits(r)
	}
	return 8 * x.memBytes
}

func regBits(r x86asm.Reg) int {
	switch {
	case r <= x86asm.R15B:
		return 8
	case r <= x86asm.R15W:
		return 16
	case r <= x86asm.R15L:
		return 32
	case r <= x86asm.R15:
		return 64
	}
	return 0
}

// appendMnemonic appends the name of the instruction. In AT&T syntax it has a suffix if no register determines the
// size of the operation: "addl $0x1,(%rax)".
func (x *x86) appendMnemonic() {
	x.appendEncoding()
	name := x.spell.att
	if x.syntax == asm.Intel {
		name = x.spell.intel
	}
	if p := x.predicate(); p != "" {
		x.args[x.argCount()-1] = nil
		x.buf = append(append(append(x.buf, name[:x.spell.split]...), p...), name[x.spell.split:]...)
	} else {
		x.buf = append(x.buf, name...)
	}
	x.buf = append(x.buf, x.hint...)
	if x.spell.suffix != noSuffix {
		x.appendSuffix()
	}
	x.buf = append(x.buf, x.flags...)
}

func (x *x86) appendSuffix() {
	s := ""
	switch x.spell.suffix {
	case suffixWord:
		if x.dataSize == 16 && !x.generalReg(0) {
			s = "w"
		}
	default:
		if x.syntax == asm.ATT {
			s = x.sizeSuffix()
		}
	}
	x.buf = append(x.buf, s...)
}

// sizeSuffix returns the suffix that AT&T syntax appends for the size of an operand, or "" if there is none. A sign
// or zero extension has two suffixes (movzbl): sizeSuffix appends the first one to x.buf and returns the second one.
func (x *x86) sizeSuffix() string {
	size := x.memBytes & 15
	switch x.spell.suffix {
	case suffixSize, suffixShift:
		if x.sizedByMemory() {
			return sizeLetters[size]
		}
	case suffixFloat:
		return floatLetters[size]
	case suffixInt:
		return intLetters[size]
	case suffixVector, suffixClass:
		return x.vectorSuffix()
	case suffixExtend:
		x.buf = append(x.buf, sizeLetters[x.argBits(1)/8]...)
		return sizeLetters[x.argBits(0)/8]
	case suffixMemory:
		if x.mem.ok {
			return sizeLetters[size]
		}
	}
	return ""
}

// vectorSuffix returns the suffix x, y or z for the length of a vector in memory: "vcvtpd2psy (%rax),%xmm1". It
// returns "" if the other operand already determines the length.
func (x *x86) vectorSuffix() string {
	if !x.mem.ok || x.vec.form == 0 || x.broadcastBytes() > 0 || x.spell.suffix == suffixVector && x.vec.l == 2 {
		return ""
	}
	return [...]string{"x", "y", "z", ""}[x.vec.l&3]
}

// generalReg reports whether operand i is a general register.
func (x *x86) generalReg(i int) bool {
	r, ok := x.args[i].(x86asm.Reg)
	return ok && regBits(r) > 0
}

// sizedByMemory reports whether there is a memory operand and no register determines its size. A register that holds
// a shift count does not determine the size.
func (x *x86) sizedByMemory() bool {
	if !x.mem.ok {
		return false
	}
	for i, a := range x.args {
		if _, ok := a.(x86asm.Reg); ok && (x.spell.suffix != suffixShift || i != 1) {
			return false
		}
	}
	return true
}

var (
	sizeLetters  = [16]string{1: "b", 2: "w", 4: "l", 8: "q"}
	floatLetters = [16]string{4: "s", 8: "l", 10: "t"}
	intLetters   = [16]string{2: "s", 4: "l", 8: "ll"}
)
