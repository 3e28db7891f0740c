// Package xarch decodes the code of POWER, RISC-V, z/Architecture and LoongArch with the decoders of golang.org/x/arch.
// The instructions are spelled as x/arch spells them, which is close to objdump:
//
//   - mnemonics are padded to six characters,
//   - direct jumps and calls have their target as the last operand ("beq a0,a1,0x1010"),
//   - registers of RISC-V have their names in the ABI (a0, not x10).
//
// x/arch does not provide the kinds and targets of instructions. This package reads them from the encodings. Bytes that
// can't be decoded become ".byte 0x…, 0x…". One such piece is as long as the shortest instruction of the architecture.
package xarch

import (
	"strings"
	"sync"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// lock serializes calls of the decoders of golang.org/x/arch, except x86's. They are not safe for concurrent use,
// because each call writes to a variable with which x/arch's tests measure their coverage.
var lock sync.Mutex

// A nextFunc decodes the instruction at the start of code. It returns an Inst of length 0 if code does not begin with a
// valid instruction.
type nextFunc func(code []byte, pc uint64) asm.Inst

// decode decodes one instruction after another. It calls next(code, pc) for each. Bytes that are not an instruction are
// printed as data, in pieces as long as the shortest instruction.
func decode(code []byte, pc uint64, shortest int, next nextFunc) []asm.Inst {
	lock.Lock()
	defer lock.Unlock()
	insts := make([]asm.Inst, 0, len(code)/4+1)
	for len(code) > 0 {
		in := asm.Inst{}
		if len(code) >= shortest {
			in = next(code, pc)
		}
		if in.Len == 0 {
			in = badPiece(code, shortest)
		}
		in.Addr = pc
		insts = append(insts, in)
		code = code[in.Len:]
		pc += uint64(in.Len)
	}
	return insts
}

// badPiece returns the first n bytes of code as data, where n is the length of the shortest instruction. If fewer are
// left, it returns only one byte.
func badPiece(code []byte, n int) asm.Inst {
	if len(code) < n {
		n = 1
	}
	text := []byte(".byte ")
	for i, c := range code[:n] {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = asm.AppendHex(text, uint64(c))
	}
	return asm.Inst{Len: n, Text: string(text), Bad: true}
}

// padMnemonic aligns the operands: "b 0x1010" becomes "b      0x1010". "ret" is not changed.
func padMnemonic(text string) string {
	mnemonic, args, found := strings.Cut(strings.TrimSpace(text), " ")
	if !found {
		return mnemonic
	}
	const width = 6
	return mnemonic + strings.Repeat(" ", max(width-len(mnemonic), 0)+1) + args
}

// showTarget replaces the last operand of a direct jump or call with the target. In x/arch's text, that operand is a
// distance: "beq a0,a1,16" becomes "beq a0,a1,0x1010".
func showTarget(text string, target uint64) string {
	if target == 0 {
		return text
	}
	last := strings.LastIndexAny(text, " ,") + 1
	return string(asm.AppendHex([]byte(text[:last]), target))
}
