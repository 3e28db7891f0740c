// Package lengths says how long the most common instructions of x86-64 are, and where branches lead. It does not know
// their texts.
package lengths

import (
	"encoding/binary"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// Longest is the length of the longest instruction of x86-64, in bytes.
const Longest = 15

const (
	rexW                                = 8
	prefixData, prefixRepne, prefixRepe = 0x66, 0xf2, 0xf3
)

// An outline says how the instructions with a common opcode are encoded.
type outline uint16

const (
	declined outline = 0         // the opcode is not common: the instruction must be decoded
	bare     outline = 1 << iota // has neither ModRM nor an immediate
	modRM                        // has a ModRM byte
	imm8                         // ends with an immediate of a byte
	imm32                        // ends with an immediate of four bytes, or of eight with immW
	immW                         // the immediate has eight bytes if there is a REX prefix with W
	branch                       // the immediate is the distance to the target
	noSix                        // the instruction is invalid, or has another name, if the reg field of ModRM is 6
	group                        // only if the reg field of ModRM is 0
)

// oneByte and twoByte have the outlines of opcodes without a prefix other than REX. The index in oneByte is an opcode
// of one byte; the index in twoByte is the byte after 0F. after66, afterF2 and afterF3 are like twoByte, for opcodes
// after the prefix in their name.
var oneByte, twoByte, after66, afterF2, afterF3 = commonOpcodes()

func commonOpcodes() (one, two, with66, withF2, withF3 [256]outline) {
	fill := func(t *[256]outline, o outline, opcodes ...int) {
		for _, op := range opcodes {
			t[op] = o
		}
	}
	for op := 0; op < 0x40; op += 8 { // add, or, adc, sbb, and, sub, xor, cmp
		fill(&one, modRM, op, op+1, op+2, op+3)
		one[op+4], one[op+5] = imm8, imm32
	}
	for op := range 8 {
		one[0x50+op], one[0x58+op] = bare, bare // push, pop
		one[0xb0+op], one[0xb8+op] = imm8, imm32|immW
	}
	for op := range 16 {
		one[0x70+op], two[0x80+op] = imm8|branch, imm32|branch
		two[0x40+op] = modRM // cmovcc
	}
	fill(&one, modRM, 0x63, 0x84, 0x85, 0x88, 0x89, 0x8a, 0x8b)
	fill(&one, modRM|imm8, 0x6b, 0x80, 0x83)
	fill(&one, modRM|imm32, 0x69, 0x81)
	fill(&one, modRM|noSix, 0xd1, 0xd3)
	fill(&one, modRM|noSix|imm8, 0xc1)
	fill(&one, modRM|group|imm8, 0xc6, 0xf6)
	fill(&one, modRM|group|imm32, 0xc7, 0xf7)
	fill(&one, modRM|group, 0xfe, 0xff)
	one[0xa8], one[0xa9] = imm8, imm32
	one[0x99] = bare // cltd, cqto
	one[0xe8], one[0xe9], one[0xeb] = imm32|branch, imm32|branch, imm8|branch
	fill(&two, modRM, 0x10, 0x11, 0x28, 0x29, 0x2e, 0x57, 0xaf, 0xb6, 0xb7, 0xbe, 0xbf)
	fill(&with66, modRM, 0x28, 0x2e, 0x57, 0x6e, 0x7e, 0xef)
	fill(&withF2, modRM, 0x10, 0x11, 0x2a, 0x2c, 0x51, 0x58, 0x59, 0x5a, 0x5c, 0x5d, 0x5e, 0x5f)
	withF3 = withF2
	fill(&withF3, modRM, 0x6f, 0x7e, 0x7f)
	return one, two, with66, withF2, withF3
}

// Decode returns the instruction at the start of the code, without a text. pc is its address. ok is false if the
// instruction is not one of the common ones, or if the code has fewer bytes than the longest one.
func Decode(code []byte, pc uint64) (in asm.Inst, ok bool) {
	if len(code) < Longest {
		return in, false
	}
	table, i := &oneByte, 0
	switch code[0] {
	case prefixData:
		table = &after66
	case prefixRepne:
		table = &afterF2
	case prefixRepe:
		table = &afterF3
	}
	prefixed := table != &oneByte
	if prefixed {
		i++
	}
	wide := false
	if code[i]&0xf0 == 0x40 {
		wide = code[i]&rexW != 0
		i++
	}
	op := code[i]
	i++
	if op == 0x0f {
		if !prefixed {
			table = &twoByte
		}
		op = code[i]
		i++
	} else if prefixed {
		return in, false
	}
	o := table[op]
	if o&modRM != 0 {
		reg := code[i] >> 3 & 7
		if o&group != 0 && reg != 0 || o&noSix != 0 && reg == 6 {
			return in, false
		}
		i += modRMLen(code[i], code[i+1])
	}
	in = asm.Inst{Addr: pc, Kind: asm.Plain}
	distance := 0
	switch {
	case o == declined:
		return in, false
	case o&imm8 != 0:
		distance = int(int8(code[i]))
		i++
	case o&immW != 0 && wide:
		i += 8
	case o&imm32 != 0:
		distance = int(int32(binary.LittleEndian.Uint32(code[i:])))
		i += 4
	}
	in.Len = i
	if o&branch != 0 {
		in.Target = pc + uint64(i) + uint64(distance)
		in.Kind = branchKind(op)
	}
	return in, true
}

// branchKind returns the Kind of a relative branch. op is the last byte of its opcode.
func branchKind(op byte) asm.Kind {
	switch op {
	case 0xe8:
		return asm.Call
	case 0xe9, 0xeb:
		return asm.Jump
	}
	return asm.CondJump
}

// modRMLen returns the length of the ModRM byte b, its SIB byte and its displacement. sib is the byte after b.
func modRMLen(b, sib byte) int {
	mod, rm := b>>6, b&7
	n := 1
	if mod != 3 && rm == 4 {
		n++
		if mod == 0 && sib&7 == 5 {
			return n + 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}
