// Package disasm decodes machine code into instructions, spelled as GNU objdump spells them.
//
//	insts, err := disasm.Decode(disasm.AMD64, disasm.ATT, code, 0x7f0523ef2180)
//	for _, in := range insts {
//		fmt.Printf("%#x: %s\n", in.Addr, in.Text) // 0x7f0523ef2180: mov    0x30(%r15),%r8
//	}
//
// For x86-64 and AArch64 the text is the same as objdump's, apart from a few differences that are listed in the
// packages disasm/amd64 and disasm/arm64. The other instruction sets are decoded by golang.org/x/arch, whose spelling
// is close to objdump's (disasm/xarch).
//
// No byte of the input is skipped: the lengths of the instructions add up to the length of the input.
//
// The package reads no files and knows nothing about HotSpot. Its API may change between minor versions before 1.0.
//
// # Implementation
//
// Each instruction set has a decoder in a package below this one, and an entry in the map decoders. The types that all
// decoders share, such as Inst and Kind, are in disasm/asm.
package disasm

import (
	"fmt"

	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/arm64"
	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/xarch"
)

// An Arch names an instruction set, as Go's GOARCH does.
type Arch string

const (
	AMD64   Arch = "amd64"   // x86-64 in 64-bit mode, up to AVX10.2 and APX
	ARM64   Arch = "arm64"   // AArch64 with vectors, atomics, cryptography, and the part of SVE that HotSpot uses
	PPC64LE Arch = "ppc64le" // little-endian POWER
	RISCV64 Arch = "riscv64" // RV64 with compressed instructions
	S390X   Arch = "s390x"   // z/Architecture
	Loong64 Arch = "loong64" // LoongArch
)

// ArchOf returns the instruction set with the given name. It knows the names that HotSpot, operating systems and Go
// use: "x86_64", "aarch64", "amd64". An unknown name is returned unchanged, and Supported returns false for it.
func ArchOf(name string) Arch {
	switch name {
	case "x86_64", "x86-64", "x64":
		return AMD64
	case "aarch64":
		return ARM64
	case "loongarch64":
		return Loong64
	}
	return Arch(name)
}

// A Syntax is a way to write instructions. Only AMD64 has more than one; the other instruction sets ignore it.
type Syntax = asm.Syntax

const (
	ATT   = asm.ATT   // source first, %registers, $immediates: the default of GNU tools
	Intel = asm.Intel // destination first, sizes as PTR keywords: objdump -M intel
)

// A Kind says where execution continues after an instruction.
type Kind = asm.Kind

const (
	Plain    = asm.Plain    // the next instruction follows
	Call     = asm.Call     // the next instruction follows when the callee returns
	Jump     = asm.Jump     // the next instruction never follows
	CondJump = asm.CondJump // either the next instruction or the target of the jump follows
	Return   = asm.Return   // returns to the caller, or from a trap to the interrupted code
)

// An Inst is one instruction, or one undecodable piece of the input.
type Inst = asm.Inst

// A decodeFunc decodes all of code, whose address is pc.
type decodeFunc func(syntax Syntax, code []byte, pc uint64) []Inst

// decoders holds the decoder of each instruction set that Decode supports.
var decoders = map[Arch]decodeFunc{
	AMD64:   amd64.Decode,
	ARM64:   oneSyntax(arm64.Decode),
	PPC64LE: oneSyntax(xarch.PPC64LE),
	RISCV64: oneSyntax(xarch.RISCV64),
	S390X:   oneSyntax(xarch.S390X),
	Loong64: oneSyntax(xarch.Loong64),
}

// oneSyntax makes a decodeFunc from a decoder that knows only one syntax.
func oneSyntax(decode func(code []byte, pc uint64) []Inst) decodeFunc {
	return func(_ Syntax, code []byte, pc uint64) []Inst { return decode(code, pc) }
}

// Supported reports whether Decode can decode code for arch.
func Supported(arch Arch) bool {
	return decoders[arch] != nil
}

// Decode decodes machine code. The address of its first byte is pc. There are no gaps between the instructions: their
// lengths add up to len(code), whatever the bytes are. An instruction that is cut off by the end of code counts as
// undecodable. Decode returns an error only if arch is not supported.
func Decode(arch Arch, syntax Syntax, code []byte, pc uint64) ([]Inst, error) {
	decode := decoders[arch]
	if decode == nil {
		return nil, fmt.Errorf("disasm: unsupported architecture %q", string(arch))
	}
	return decode(syntax, code, pc), nil
}

// Outline does the same as Decode, but leaves out the texts of some instructions where that saves time. All padding,
// and all instructions that stop the program, have their texts.
func Outline(arch Arch, syntax Syntax, code []byte, pc uint64) ([]Inst, error) {
	if arch == AMD64 {
		return amd64.Outline(syntax, code, pc), nil
	}
	return Decode(arch, syntax, code, pc)
}
