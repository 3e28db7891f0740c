package disasm

import (
	"strings"
	"sync"
)

// xarch serializes calls of the decoders of golang.org/x/arch, except x86's. They are not safe for concurrent use:
// each call writes to a variable of its package that measures the coverage of x/arch's tests.
var xarch sync.Mutex

// A nextFunc decodes the instruction at the start of code. It returns an Inst of length 0 if there is none.
type nextFunc func(code []byte, pc uint64) Inst

// decodeXArch decodes code with next, one instruction after the other. Bytes that are not an instruction become
// pieces of the length of the shortest instruction.
func decodeXArch(code []byte, pc uint64, shortest int, next nextFunc) []Inst {
	xarch.Lock()
	defer xarch.Unlock()
	insts := make([]Inst, 0, len(code)/4+1)
	for len(code) > 0 {
		in := Inst{}
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

// badPiece returns the next n bytes of code in the order of memory, or one byte if fewer than n are left.
func badPiece(code []byte, n int) Inst {
	if len(code) < n {
		n = 1
	}
	text := []byte(".byte ")
	for i, c := range code[:n] {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = appendHex(text, uint64(c))
	}
	return Inst{Len: n, Text: string(text), Bad: true}
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

// showTarget replaces the last operand of a direct jump or call by the target. In x/arch's text it is a distance:
// "beq a0,a1,16" becomes "beq a0,a1,0x1010".
func showTarget(text string, target uint64) string {
	if target == 0 {
		return text
	}
	last := strings.LastIndexAny(text, " ,") + 1
	return string(appendHex([]byte(text[:last]), target))
}
