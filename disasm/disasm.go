// Package disasm decodes machine code into instructions, spelled as GNU objdump spells them.
//
//	insts, err := disasm.Decode(disasm.AMD64, disasm.ATT, code, 0x7f0523ef2180)
//	for _, in := range insts {
//		fmt.Printf("%#x: %s\n", in.Addr, in.Text) // 0x7f0523ef2180: mov    0x30(%r15),%r8
//	}
//
// For x86-64 and AArch64 the text equals that of GNU objdump,
//
//	objdump -D -b binary -m i386:x86-64 --adjust-vma=PC               (AMD64, Syntax ATT)
//	objdump … -M intel                                                (AMD64, Syntax Intel)
//	aarch64-linux-gnu-objdump -D -b binary -m aarch64 --adjust-vma=PC (ARM64)
//
// including comments ("# 0x…" after a RIP-relative operand, "// #-1" after arm64's mov). Where versions of objdump
// differ, the text is that of 2.40 (Debian 12). There are two intended differences: addresses have no symbols, and
// each byte of x86 code that is not part of an instruction becomes a ".byte 0x…", where objdump writes one "(bad)"
// for several bytes. There are more differences in instructions that compilers do not generate;
// testdata/opcodes/known.txt lists all of them.
//
// The other instruction sets are spelled as golang.org/x/arch spells them, which is close to objdump. Bytes that
// can't be decoded become ".byte 0x…, 0x…", with as many bytes as the shortest instruction has.
//
// No byte of the input is skipped: the lengths of the instructions add up to the length of the input.
//
// The package reads no files and knows nothing about HotSpot. Its API may change between minor versions before 1.0.
//
// # Implementation
//
// Each instruction set has its own files (amd64*.go) and an entry in the map decoders. For x86,
// golang.org/x/arch/x86/x86asm finds out which instruction it is, and this package writes the text. Instructions that
// x86asm does not know, or decodes as other ones, are in tables (amd64_missing.go, amd64_half.go). For arm64 x/arch
// is not used: its package arm64asm does not know LSE, SHA-512 and SVE, and spells many instructions differently from
// objdump. Tables of this package have the encodings and the texts instead.
package disasm

import "fmt"

// An Arch names an instruction set, as Go's GOARCH does.
type Arch string

const (
	AMD64   Arch = "amd64"   // x86-64 in 64-bit mode, up to AVX-512
	ARM64   Arch = "arm64"   // AArch64 with vectors, atomics, cryptography, and the part of SVE that HotSpot uses
	PPC64LE Arch = "ppc64le" // little-endian POWER
	RISCV64 Arch = "riscv64" // RV64 with compressed instructions
	S390X   Arch = "s390x"   // z/Architecture
	Loong64 Arch = "loong64" // LoongArch
)

// ArchOf returns the instruction set with the given name, which may be HotSpot's, the system's ("x86_64", "aarch64"),
// or Go's ("amd64"). An unknown name is returned as it is, and is not Supported.
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
type Syntax uint8

const (
	ATT   Syntax = iota // source first, %registers, $immediates: the default of GNU tools
	Intel               // destination first, sizes as PTR keywords: objdump -M intel
)

// A Kind is the effect of an instruction on the flow of control.
type Kind uint8

const (
	Plain    Kind = iota // the next instruction follows
	Call                 // the next instruction follows when the callee returns
	Jump                 // the next instruction never follows
	CondJump             // the next instruction follows, or another one
	Return               // back to the caller, or from a trap to the code that it interrupted
)

// An Inst is one instruction, or one undecodable piece of the input.
type Inst struct {
	Addr   uint64 // of its first byte
	Len    int    // in bytes, at least 1
	Text   string // "mov    0x30(%r15),%r8": the mnemonic is padded as by objdump; no trailing blanks
	Kind   Kind
	Target uint64 // of a direct call or jump; else 0
	Bad    bool   // not an instruction: Text is ".byte 0x06" on x86, ".inst  0x03ad6d98 ; undefined" on arm64
}

// A decodeFunc decodes all of code, whose address is pc.
type decodeFunc func(syntax Syntax, code []byte, pc uint64) []Inst

// decoders are the instruction sets that Decode supports.
var decoders = map[Arch]decodeFunc{
	AMD64:   decodeAMD64,
	ARM64:   decodeARM64,
	PPC64LE: decodePPC64LE,
	RISCV64: decodeRISCV64,
	S390X:   decodeS390X,
	Loong64: decodeLoong64,
}

// Supported reports whether Decode can decode code for arch.
func Supported(arch Arch) bool {
	return decoders[arch] != nil
}

// Decode decodes code, whose address is pc. The instructions adjoin one another, and their lengths add up to
// len(code), whatever the bytes are. An instruction that is cut off by the end of code counts as undecodable. Decode
// returns an error only if arch is not supported.
func Decode(arch Arch, syntax Syntax, code []byte, pc uint64) ([]Inst, error) {
	decode := decoders[arch]
	if decode == nil {
		return nil, fmt.Errorf("disasm: unsupported architecture %q", string(arch))
	}
	return decode(syntax, code, pc), nil
}
