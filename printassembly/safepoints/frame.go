package safepoints

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// SetsUpFrame reports whether instruction i sets up or removes the stack frame of the compiled method, or returns from
// it. Such an instruction belongs to the compiled method itself, whatever was inlined before or after it. HotSpot has
// no record for most of them (C2 makes MachProlog and MachEpilog nodes when it has no bytecodes any more).
func SetsUpFrame(insts []printassembly.Instruction, i int) bool {
	in := &insts[i]
	switch {
	case in.Kind == disasm.Return, pollsReturn(in):
		return true
	case in.Kind == disasm.CondJump:
		return i > 0 && pollsReturn(&insts[i-1])
	// Most instructions are among these.
	case in.Kind != disasm.Plain, !strings.Contains(in.Text, "sp") && !strings.Contains(in.Text, "bp"):
		return false
	}
	switch name, operands := split(in); name {
	case "push", "pop", "stp", "ldp":
		return savesFrame(in)
	case "mov": // also a write to the pages below the stack, which HotSpot makes to find an overflow early
		return savesFrame(in) || strings.Contains(operands, ",-0x") && strings.HasSuffix(operands, "(%rsp)") ||
			strings.Contains(operands, "[rsp-0x")
	case "sub":
		return movesStack(operands) && (i > 0 && savesFrame(&insts[i-1]) || i+1 < len(insts) && savesFrame(&insts[i+1]))
	case "add":
		return movesStack(operands) && i+1 < len(insts) && (savesFrame(&insts[i+1]) || insts[i+1].Kind == disasm.Return)
	}
	return false
}

// pollsReturn reports whether an instruction is a part of the poll before a return.
func pollsReturn(in *printassembly.Instruction) bool {
	return slices.ContainsFunc(in.Comments, func(c string) bool { return strings.HasPrefix(c, "{poll_return") })
}

// savesFrame reports whether an instruction saves the frame pointer or restores it.
func savesFrame(in *printassembly.Instruction) bool {
	switch name, operands := split(in); name {
	case "push", "pop":
		return strings.TrimPrefix(operands, "%") == "rbp"
	case "mov": // %rbp,0x10(%rsp)
		return strings.HasPrefix(operands, "%rbp,") && strings.HasSuffix(operands, "(%rsp)")
	case "stp", "ldp":
		return strings.HasPrefix(operands, "x29, x30, [sp")
	}
	return false
}

// movesStack reports whether the operands of an addition or a subtraction change the stack pointer.
func movesStack(operands string) bool {
	return strings.HasSuffix(operands, ",%rsp") || strings.HasPrefix(operands, "rsp,") ||
		strings.HasPrefix(operands, "sp, sp, #")
}

// split returns the name of an instruction and its operands.
func split(in *printassembly.Instruction) (name, operands string) {
	name, operands, _ = strings.Cut(in.Text, " ")
	return name, strings.TrimSpace(operands)
}
