// Package asm has what all decoders of machine code share: the type of a decoded instruction, a function that reads a
// field of an encoding, and a function that writes numbers.
//
//	in := asm.Inst{Addr: 0x1004, Len: 5, Text: "call   0x1019", Kind: asm.Call, Target: 0x1019}
//
// A decoder (packages disasm/amd64, disasm/arm64, disasm/xarch) returns the Insts of a piece of code. The Insts cover
// all of the input without gaps, even if the input is not code. Bytes that are not an instruction become Insts that are
// Bad. An instruction that is cut off by the end of the code becomes a Bad Inst too.
//
// Programs import package disasm, which has the same types.
package asm

import "strconv"

// A Syntax is a way to write instructions. Only x86-64 has a choice; the decoders of other instruction sets ignore it.
type Syntax uint8

const (
	ATT   Syntax = iota // source first, %registers, $immediates: the default of GNU tools
	Intel               // destination first, sizes as PTR keywords: objdump -M intel
)

// A Kind is the effect of an instruction on the flow of control.
type Kind uint8

const (
	Plain    Kind = iota // the next instruction follows
	Call                 // when the callee returns, the next instruction follows
	Jump                 // the next instruction never follows
	CondJump             // either the next instruction follows, or the one at the target
	Return               // execution goes back to the caller, or from a trap to the code that it interrupted
)

// An Inst is one instruction, or one undecodable piece of the input.
type Inst struct {
	Addr   uint64 // address of its first byte
	Len    int    // in bytes, at least 1
	Text   string // "mov    0x30(%r15),%r8": the mnemonic is padded as by objdump; no trailing blanks
	Kind   Kind
	Target uint64 // the address that a direct call or jump goes to; 0 for all other instructions
	Bad    bool   // not an instruction: Text is ".byte 0x06" on x86, ".inst  0x03ad6d98 ; undefined" on arm64
}

// SetTexts sets the Text of each Inst. The decoder has written the texts of all Insts into one buffer, one after the
// other: insts[0] gets text[:ends[0]], insts[1] gets text[ends[0]:ends[1]], and so on. All Texts are parts of one
// string, which saves an allocation for each instruction.
func SetTexts(insts []Inst, text []byte, ends []int) {
	all, start := string(text), 0
	for i, end := range ends {
		insts[i].Text = all[start:end]
		start = end
	}
}

// AppendHex appends v as objdump writes numbers: 0x10.
func AppendHex(b []byte, v uint64) []byte {
	return strconv.AppendUint(append(b, "0x"...), v, 16)
}

// Bits returns n bits of x as a number: the bits at, at+1, …, at+n-1. For example, Bits(0x1234, 4, 8) is 0x23.
func Bits(x uint32, at, n int) uint32 { return x >> at & (1<<n - 1) }

// Signed returns the same bits as Bits, but sign-extended to 64 bits.
func Signed(x uint32, at, n int) uint64 {
	return uint64(int64(int32(x<<(32-at-n)) >> (32 - n)))
}
