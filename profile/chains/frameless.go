package chains

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Frameless returns the addresses of the instructions at which code that keeps a frame pointer has no frame of its own:
// in its prologue up to "mov %rsp,%rbp", after "pop %rbp" or "leave", and in the code that is jumped to from there.
// insts are all instructions of a piece of code, in AT&T's syntax. framed is true if the code begins with a frame, as
// the interpreter's does. For code of other instruction sets than x86-64, Frameless returns nil.
//
// It reads the instructions in the order of their addresses, because HotSpot lays out code in that order: prologue,
// code, epilogue, more code, and what is jumped to at the end.
func Frameless(insts []printassembly.Instruction, framed bool) map[uint64]bool {
	var without map[uint64]bool
	var targets map[uint64]bool // targets of the jumps in code without a frame
	x86 := false
	for i := range insts {
		in := &insts[i]
		x86 = x86 || strings.Contains(in.Text, "%r")
		mnemonic, operands, _ := strings.Cut(in.Text, " ")
		operands = strings.TrimSpace(operands)
		if targets[in.Lo] || strings.HasSuffix(in.Section, "Entry Point") || startsFrame(mnemonic, operands) {
			framed = false
		}
		if !framed {
			if without == nil {
				without = map[uint64]bool{}
			}
			without[in.Lo] = true
			if in.Target != 0 && in.Kind != disasm.Call {
				if targets == nil {
					targets = map[uint64]bool{}
				}
				targets[in.Target] = true
			}
		}
		switch {
		case mnemonic == "mov" && operands == "%rsp,%rbp": // C2 may add a number to rbp after that
			framed = i+1 == len(insts) || !strings.HasSuffix(insts[i+1].Text, ",%rbp")
		case mnemonic == "add" && strings.HasSuffix(operands, ",%rbp"):
			framed = true
		case (mnemonic == "pop" || mnemonic == "popp") && operands == "%rbp", mnemonic == "leave", mnemonic == "leaveq":
			framed = false
		case in.Kind == disasm.Return, in.Kind == disasm.Jump:
			framed = true // framed code jumps to what follows, unless frameless code does (targets)
		}
	}
	if !x86 {
		return nil
	}
	return without
}

// startsFrame reports whether an instruction is one with which a method begins: "mov %eax,-0x14000(%rsp)", which
// touches the stack, or "push %rbp".
func startsFrame(mnemonic, operands string) bool {
	return (mnemonic == "push" || mnemonic == "pushp") && operands == "%rbp" ||
		mnemonic == "mov" && strings.HasPrefix(operands, "%eax,-0x") && strings.HasSuffix(operands, "(%rsp)")
}
