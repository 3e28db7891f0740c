package disasm

import (
	"strings"
	"sync"
)

// xarch lets one goroutine at a time into the decoders of golang.org/x/arch but x86's: each call of them writes to a
// variable of its package, to measure the coverage of its tests.
var xarch sync.Mutex

// A nextFunc decodes the instruction at the start of code. An Inst of length 0 says that there is none.
type nextFunc func(code []byte, pc uint64) Inst

// decodeXArch decodes code one instruction after the other. What is none becomes pieces of as many bytes as the
// shortest instruction has.
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

// badPiece has the next n bytes of code as they lie in memory, or one byte when fewer are left.
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

// padMnemonic aligns the operands of a text that has one blank in front of them.
func padMnemonic(text string) string {
	mnemonic, args, found := strings.Cut(strings.TrimSpace(text), " ")
	if !found {
		return mnemonic
	}
	const width = 6
	return mnemonic + strings.Repeat(" ", max(width-len(mnemonic), 0)+1) + args
}

// showTarget writes the target of a direct jump or call in place of its last operand, which is the distance.
func showTarget(text string, target uint64) string {
	if target == 0 {
		return text
	}
	last := strings.LastIndexAny(text, " ,") + 1
	return string(appendHex([]byte(text[:last]), target))
}
