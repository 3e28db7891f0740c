// Package amd64 decodes x86-64 code in 64-bit mode, up to AVX10.2 and APX. It prints the same text as GNU objdump:
//
//	objdump -D -b binary -m i386:x86-64 --adjust-vma=PC   (asm.ATT)
//	objdump … -M intel                                    (asm.Intel)
//
// including comments ("# 0x…" after a RIP-relative operand). Where versions of objdump differ, this package prints the
// text of 2.40 (Debian 12), but that of 2.47 for APX and AVX10.2. There are two intended differences: addresses have no
// symbols, and each byte that is not part of an instruction becomes a ".byte 0x…", where objdump writes one "(bad)" for
// several bytes. There are more differences in instructions that compilers do not generate. testdata/opcodes/known.txt
// lists all of them.
//
// # Implementation
//
// An instruction is decoded in this order:
//
//   - prefix.go and rex2.go read the prefixes before the opcode. Whether a prefix is printed as a word of its own
//     ("lock", "data16") is decided later, when the operation is known.
//   - golang.org/x/arch/x86/x86asm determines the operation and its operands. legacy.go corrects x86asm's mistakes in
//     instructions without a VEX or EVEX prefix, and vector.go corrects them in instructions with such a prefix.
//     missing.go, half.go (half precision), avx10.go and promotedtable.go (APX) have tables of the operations that
//     x86asm does not know or mistakes for others.
//   - mem.go reads the memory operand.
//   - print.go writes the text. names.go says how an operation is spelled by default, special.go lists the operations
//     that are spelled differently, and evex.go writes masks, repeated elements and rounding modes.
package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/amd64/lengths"
	"github.com/gasm-profiler/gasm/disasm/asm"
)

// Decode decodes and prints all instructions in code. pc is the address of code[0].
func Decode(syntax asm.Syntax, code []byte, pc uint64) []asm.Inst {
	return decode(syntax, code, pc, false)
}

// Outline returns the same instructions as Decode, but leaves out the texts of the most common ones. That takes a fifth
// of the time. Relative calls and jumps may lack their texts. All other instructions have them if they are not
// [asm.Plain], have "nop" in their name, or stop the program.
func Outline(syntax asm.Syntax, code []byte, pc uint64) []asm.Inst {
	return decode(syntax, code, pc, true)
}

// decode decodes all instructions in code. With onlyOutline, it leaves out most texts, see Outline.
func decode(syntax asm.Syntax, code []byte, pc uint64, onlyOutline bool) []asm.Inst {
	const bytesPerInst, textPerInst = 4, 24 // in bytes, typical of compiled Java code
	insts := make([]asm.Inst, 0, len(code)/bytesPerInst+1)
	ends := make([]int, 0, cap(insts)) // where the texts of the instructions end
	x := x86{syntax: syntax, names: spellings()}
	if !onlyOutline {
		x.buf = make([]byte, 0, cap(insts)*textPerInst)
	}
	for len(code) > 0 {
		x.code, x.pc = code, pc
		in, done := asm.Inst{}, false
		if onlyOutline && x.bad == 0 {
			in, done = lengths.Decode(code, pc)
		}
		if !done {
			in = x.next()
		}
		insts = append(insts, in)
		ends = append(ends, len(x.buf))
		code = code[in.Len:]
		pc += uint64(in.Len)
	}
	asm.SetTexts(insts, x.buf, ends)
	return insts
}

// An x86 decodes and prints instructions one after the other.
type x86 struct {
	syntax asm.Syntax
	names  []spelling // the spelling of each operation, by x86asm.Op
	buf    []byte     // texts of all instructions so far
	code   []byte     // the rest of the input
	pc     uint64     // address of code[0]

	prefixes        // the bytes before the opcode
	op       []byte // the part of code that begins with the opcode, or with the VEX or EVEX prefix
	vec      vector // the fields of a VEX or EVEX prefix
	mem      memory // the ModRM operand, if it is in memory

	opCopy [maxInstLen]byte // a changed copy of op, if op is not a part of code

	spell    *spelling
	args     x86asm.Args // in the order of Intel syntax, terminated by nil
	highArgs byte        // bit i is set if args[i] is one of r16 to r31 (see gprName)
	dataSize int         // width of the operation in bits
	memBytes int         // size of the memory operand; 0 if there is none
	branch16 bool        // the target of the branch is truncated to 16 bits
	one      bool        // print the 1 of a shift by one, although the encoding has no immediate
	mark     string      // printed before the mnemonic of an APX instruction: "{evex} ", "{nf} "
	flags    string      // printed after the mnemonic of a conditional comparison: " {dfv=cf}"
	len      int         // length of the instruction in bytes, including prefixes
	bad      int         // how many more bytes of an undecodable instruction will be printed as .byte
}

const maxInstLen = lengths.Longest

// next decodes and prints the instruction at the start of x.code.
func (x *x86) next() asm.Inst {
	if x.bad > 0 {
		x.bad--
		return x.byteInst()
	}
	start := len(x.buf)
	x.scanPrefixes()
	x.op = nil
	if x.alone > 0 {
		in := asm.Inst{Addr: x.pc, Len: x.alone}
		x.appendPrefixNames(x.alone)
		x.buf = x.buf[:len(x.buf)-1] // the trailing blank
		return in
	}
	if !x.decode() {
		if x.truncated() {
			return x.cutInst(start)
		}
		x.bad = min(x.badLen(), len(x.code)) - 1
		x.buf = x.buf[:start]
		return x.byteInst()
	}
	in := asm.Inst{Addr: x.pc, Len: x.len, Kind: x.spell.kind}
	switch a := x.args[0].(type) {
	case x86asm.Rel:
		in.Target = x.target(a)
	case x86asm.Imm:
		if x.spell == &spellJmpabs {
			in.Target = uint64(a)
		}
	}
	x.print()
	return in
}

// truncated reports whether the input ends in the middle of an instruction.
func (x *x86) truncated() bool {
	switch {
	case len(x.code) >= maxInstLen, len(x.op) == 0 && x.n < len(x.code):
		return false
	case len(x.op) == 0, x.vec.form != 0 && len(x.op) <= x.vec.head()+1:
		return true
	}
	var padded [maxInstLen]byte
	copy(padded[:], x.code)
	return x.wouldDecode(padded[:])
}

// wouldDecode reports whether code begins with a valid instruction. It does not change x.
func (x *x86) wouldDecode(code []byte) bool {
	other := x86{syntax: x.syntax, names: x.names, code: code, pc: x.pc}
	other.scanPrefixes()
	return other.decode()
}

// cutInst decodes the first byte of an incomplete instruction at the end of the input. If the byte is a prefix, the
// text is the prefix's name ("lock"), otherwise it is ".byte 0x…".
func (x *x86) cutInst(start int) asm.Inst {
	x.buf = x.buf[:start]
	if x.n == 0 || x.code[0] == rex2Prefix {
		return x.byteInst()
	}
	x.buf = append(x.buf, prefixName(x.code[0])...)
	return asm.Inst{Addr: x.pc, Len: 1}
}

// badLen returns how many bytes objdump skips when it writes "(bad)". Decode skips the same number of bytes, so that
// it finds the same instructions as objdump in the code after them. objdump usually skips the prefixes and the
// opcode. If the opcode exists but its operands are invalid, objdump skips the prefixes and the first byte of the
// opcode.
func (x *x86) badLen() int {
	switch {
	case len(x.op) == 0:
		return max(x.n, 1)
	case x.vec.badPrefix(x.op) > 0:
		return x.n + x.vec.badPrefix(x.op)
	}
	n := opcodeLen(x.op)
	switch {
	case x.vec.form != 0:
		n = x.vec.head() + 1
	case x.op[0]&0xf8 == 0xd8: // ModRM is part of an x87 opcode
		return x.n + 1 + max(x.readMem(1, x.rex), 1)
	case x.op[0] == 0x8f && len(x.op) > 1 && x.op[1]&31 >= 8 && x.op[1]&31 <= 10: // AMD's XOP prefix
		return x.n + 4
	}
	if n > 1 && x.badOperand(n) {
		return x.n + 1
	}
	return x.n + n
}

// badOperand reports whether the instruction would be valid with the other kind of operand: with memory if the
// operand is a register, or with a register if the operand is in memory. The opcode has n bytes.
func (x *x86) badOperand(n int) bool {
	if len(x.op) <= n {
		return false
	}
	var other [maxInstLen]byte
	copy(other[:], x.code)
	if other[x.n+n] >= 0xc0 {
		other[x.n+n] &= 0x38
	} else {
		other[x.n+n] |= 0xc0
	}
	return x.wouldDecode(other[:])
}

func (x *x86) byteInst() asm.Inst {
	x.buf = append(x.buf, ".byte "...)
	x.buf = asm.AppendHex(x.buf, uint64(x.code[0]))
	return asm.Inst{Addr: x.pc, Len: 1, Bad: true}
}

// decode decodes the instruction without printing it. It returns false if x.code does not begin with a valid
// instruction.
func (x *x86) decode() bool {
	if x.n >= len(x.code) || x.n >= maxInstLen-1 {
		return false
	}
	x.op = x.code[x.n:min(len(x.code), maxInstLen)]
	x.vec = vector{}
	x.mem = memory{}
	x.one, x.branch16, x.highArgs, x.mark, x.flags = false, false, 0, "", ""
	switch {
	case x.rex2:
		if !x.decodeREX2() {
			return false
		}
	case x.scanVector():
		if !x.decodeVector() {
			return false
		}
	case !x.decodeLegacy():
		return false
	}
	return x.len <= maxInstLen && x.len <= len(x.code)
}

// target returns the target of a relative branch. If the operand size is 16 bits, the target is truncated to 16 bits.
func (x *x86) target(rel x86asm.Rel) uint64 {
	t := x.pc + uint64(x.len) + uint64(rel)
	if x.branch16 {
		t &= 0xffff
	}
	return t
}
