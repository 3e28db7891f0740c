// Package disasm turns machine code into instructions, spelled as GNU objdump spells them.
//
//	insts, err := disasm.Decode(disasm.AMD64, disasm.ATT, code, 0x7f0523ef2180)
//	for _, in := range insts {
//		fmt.Printf("%#x: %s\n", in.Addr, in.Text) // 0x7f0523ef2180: mov    0x30(%r15),%r8
//	}
//
// The text equals that of GNU objdump (2.40),
//
//	objdump -D -b binary -m i386:x86-64 --adjust-vma=PC               (AMD64, Syntax ATT)
//	objdump … -M intel                                                (AMD64, Syntax Intel)
//	aarch64-linux-gnu-objdump -D -b binary -m aarch64 --adjust-vma=PC (ARM64)
//
// operands, immediates and comments included: "# 0x…" behind a RIP-relative operand, "// #-1" behind arm64's mov. Two
// things differ: addresses are never annotated with symbols, and x86's bytes that are no instruction become one
// ".byte 0x…" each where objdump writes "(bad)". No byte of the input is skipped, and the lengths of the instructions
// always add up to the length of the input. The other instruction sets are spelled as golang.org/x/arch spells them,
// which is close to objdump; what it cannot decode becomes ".byte 0x…, 0x…" of the length of the shortest instruction.
//
// Each instruction set has files of its own (amd64*.go) and one entry in the map of decoders. The x86 decoder stands on
// golang.org/x/arch/x86/x86asm, which says what an instruction is; how it is written, and what that package does not
// know or reads wrongly, is ours. The arm64 decoder is ours altogether: tables of encodings and their texts. The
// package arm64asm knows no atomics of LSE, no SHA-512 and no SVE, and spells half of the rest unlike objdump.
//
// The package knows no files and nothing of HotSpot.
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

// ArchOf returns the instruction set of a name that HotSpot or the system may give it ("x86_64", "aarch64"), or Go.
// A name that it does not know comes back as it is, and is not Supported.
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
	Plain    Kind = iota // goes on with the next instruction
	Call                 // comes back to the next instruction
	Jump                 // never goes on with the next instruction
	CondJump             // may go on with the next instruction
	Return               // leaves for an address from the stack
)

// An Inst is one instruction, or one undecodable piece of the input.
type Inst struct {
	Addr   uint64 // of its first byte
	Len    int    // in bytes, at least 1
	Text   string // "mov    0x30(%r15),%r8": the mnemonic padded as objdump pads it, no trailing blanks
	Kind   Kind
	Target uint64 // of a direct call or jump; 0 when there is none or it is indirect
	Bad    bool   // could not be decoded: Text is ".byte 0x06", Len 1 on x86; ".inst  0x03ad6d98 ; undefined", Len 4 on arm64
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
