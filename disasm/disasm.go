// Package disasm turns machine code into instructions, spelled as GNU objdump spells them.
//
//	insts, err := disasm.Decode(disasm.AMD64, disasm.ATT, code, 0x7f0523ef2180)
//	for _, in := range insts {
//		fmt.Printf("%#x: %s\n", in.Addr, in.Text) // 0x7f0523ef2180: mov    0x30(%r15),%r8
//	}
//
// The text equals that of GNU objdump,
//
//	objdump -D -b binary -m i386:x86-64 --adjust-vma=PC               (AMD64, Syntax ATT)
//	objdump … -M intel                                                (AMD64, Syntax Intel)
//	aarch64-linux-gnu-objdump -D -b binary -m aarch64 --adjust-vma=PC (ARM64)
//
// with its operands and comments ("# 0x…" after a RIP-relative operand, "// #-1" after arm64's mov). Where versions of
// objdump differ, the text is that of 2.40 (Debian 12). Two things are never as in objdump: addresses have no symbols,
// and each byte of x86 code that is no instruction is a ".byte 0x…", where objdump writes "(bad)" for several.
// Instructions that no compiler makes may differ too: testdata/opcodes/known.txt lists them all.
//
// No byte of the input is skipped: the lengths of the instructions add up to the length of the input.
//
// The other instruction sets are spelled as golang.org/x/arch spells them, which is close to objdump. Bytes that it
// cannot decode become ".byte 0x…, 0x…", as many as the shortest instruction has.
//
// Each instruction set has its own files (amd64*.go) and an entry in the map decoders. For x86,
// golang.org/x/arch/x86/x86asm says which instruction it is. The text is written here, and instructions that x86asm
// does not know, or takes for others, are in tables here (amd64_missing.go, amd64_half.go). For arm64 nothing of x/arch
// is used, because its package arm64asm does not know LSE, SHA-512 and SVE, and spells many others unlike objdump:
// tables have the encodings and the texts.
//
// The package reads no files, and knows nothing about HotSpot.
package disasm

import "fmt"

// An Arch names an instruction set, as Go's GOARCH does.
type Arch string

const (
	AMD64   Arch = "amd64"   // x86-64 in 64-bit mode, up to AVX-512
	ARM64   Arch = "arm64"   // AArch64 with vectors, atomics, cryptography, and what of SVE HotSpot uses
	PPC64LE Arch = "ppc64le" // little-endian POWER
	RISCV64 Arch = "riscv64" // RV64 with compressed instructions
	S390X   Arch = "s390x"   // z/Architecture
	Loong64 Arch = "loong64" // LoongArch
)

// ArchOf returns the instruction set that a name stands for: HotSpot's or the system's ("x86_64", "aarch64"), or Go's
// ("amd64"). An unknown name is returned as it is, and is not Supported.
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

// A Syntax is a way to write the instructions of one instruction set. Sets with one syntax ignore it.
type Syntax uint8

const (
	ATT   Syntax = iota // source first, %registers, $immediates: the default of GNU tools
	Intel               // destination first, sizes as PTR keywords: objdump -M intel
)

// A Kind says what an instruction does to the flow of control.
type Kind uint8

const (
	Plain    Kind = iota // the next instruction follows
	Call                 // the next instruction follows when the callee returns
	Jump                 // the next instruction never follows
	CondJump             // the next instruction follows, or another one
	Return               // goes back to the caller, or from a trap to where it came from
)

// An Inst is one instruction, or one undecodable piece of the input.
type Inst struct {
	Addr   uint64 // of its first byte
	Len    int    // in bytes, at least 1
	Text   string // "mov    0x30(%r15),%r8": the mnemonic padded as objdump pads it, no trailing blanks
	Kind   Kind
	Target uint64 // of a direct call or jump; 0 when there is none or it is indirect
	Bad    bool   // not an instruction: Text is ".byte 0x06" on x86, ".inst  0x03ad6d98 ; undefined" on arm64
}

// A decodeFunc decodes all of code, which lies at pc.
type decodeFunc func(syntax Syntax, code []byte, pc uint64) []Inst

// decoders has the instruction sets that Decode supports.
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

// Decode decodes code, which lies at pc. The instructions follow each other without gaps and their lengths add up to
// len(code), whatever the bytes are. An instruction that the end of code cuts off counts as undecodable. The only error
// is an unsupported arch.
func Decode(arch Arch, syntax Syntax, code []byte, pc uint64) ([]Inst, error) {
	decode := decoders[arch]
	if decode == nil {
		return nil, fmt.Errorf("disasm: unsupported architecture %q", string(arch))
	}
	return decode(syntax, code, pc), nil
}
