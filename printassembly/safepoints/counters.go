package safepoints

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

const (
	// maxCounter is the maximum length of the code that updates a profile once, in instructions. Comparing a receiver's
	// class with the classes in two rows of the profile takes about 30 instructions.
	maxCounter = 60
	// maxUnused is the maximum number of instructions between two accesses to a profile for the same update.
	maxUnused = 8
	// maxAfter is the maximum number of instructions after the last access that still belong to the update.
	maxAfter = 3
)

// Counters returns, for each instruction of a method, the method whose profile it updates, or "" if it updates none.
// C1's code of level 3 counts calls, branches and classes in the MethodData of the method that has the bytecode, even
// if that method is inlined. The code loads the address of the MethodData into a register, and uses the register only
// for this one update (LIRGenerator::do_ProfileInvoke, do_ProfileCall, profile_branch and profile_type). So all
// instructions up to the last one that uses the register belong to that method.
//
// If there are no updates, Counters returns nil.
func Counters(insts []printassembly.Instruction) []string {
	p := newProfiles(&graph{insts: insts})
	if p == nil {
		return nil
	}
	methods := make([]string, len(insts))
	for i := range insts {
		methods[i] = p.counter(i)
	}
	return methods
}

// counterEnd returns the index of the last instruction of the update that begins at instruction i, which loads the
// address of the MethodData.
func counterEnd(insts []printassembly.Instruction, i int) int {
	address, end := written(&insts[i]), i
	for k := i + 1; k < len(insts) && k < i+maxCounter && k <= end+maxUnused && address != ""; k++ {
		in := &insts[k]
		if in.Lo != insts[k-1].Hi || in.Kind == disasm.Call || in.Kind == disasm.Return || profiledMethod(in) != "" {
			break
		}
		if !mentions(in.Text, address) {
			continue
		}
		if based(in, address) {
			end = k
		}
		if written(in) == address && k > i+2 { // aarch64 loads an address with up to three instructions
			break
		}
	}
	return overflowEnd(insts, end)
}

// mentions reports whether the text of an instruction may have the name of a part of a register. It takes less time
// than reading the operands.
func mentions(text, register string) bool {
	return strings.Contains(text, strings.TrimPrefix(register, "x")) // x1 and w1 are parts of one register
}

// overflowEnd returns the index of the last instruction of an update whose last access to the MethodData is instruction
// i. After the code has written the counter of calls, it checks whether the counter has reached a limit: it masks the
// number, compares it and jumps.
func overflowEnd(insts []printassembly.Instruction, i int) int {
	for k := i + 1; k < len(insts) && k <= i+maxAfter; k++ {
		name, _, _ := strings.Cut(insts[k].Text, " ")
		switch {
		case insts[k].Kind == disasm.CondJump && k > i+1:
			return k
		case k == i+1 && !strings.HasPrefix(name, "and"), k > i+1 && !strings.HasPrefix(name, "test") &&
			!strings.HasPrefix(name, "cmp"):
			return i
		}
	}
	return i
}

// based reports whether an instruction accesses memory at an address in the given register.
func based(in *printassembly.Instruction, register string) bool {
	open := strings.IndexByte(in.Text, '(')
	if open < 0 {
		open = strings.IndexByte(in.Text, '[')
	}
	if open < 0 {
		return false
	}
	base, _, _ := strings.Cut(in.Text[open+1:], ",")
	if end := strings.IndexAny(base, "+)] *"); end >= 0 {
		base = base[:end]
	}
	return family(base) == register
}

// written returns the register that an instruction writes, or "" if it writes memory, or only flags.
func written(in *printassembly.Instruction) string {
	name, operands, _ := strings.Cut(in.Text, " ")
	if in.Kind != disasm.Plain || strings.HasPrefix(name, "cmp") || strings.HasPrefix(name, "test") ||
		strings.HasPrefix(name, "st") {
		return ""
	}
	operands = strings.TrimSpace(operands)
	if strings.Contains(operands, "%") { // AT&T's syntax has the destination at the end
		return family(operands[strings.LastIndexByte(operands, ',')+1:])
	}
	first, _, _ := strings.Cut(operands, ",")
	return family(first)
}

// family returns a name for all parts of the same register: "r10" for %r10 and %r10d, "ax" for %rax and eax, "x1" for
// x1 and w1. It returns "" if the text is not the name of a register.
func family(register string) string {
	r := strings.TrimPrefix(strings.TrimSpace(register), "%")
	switch {
	case len(r) < 2 || strings.ContainsAny(r, "([$# "):
		return ""
	case r[0] == 'w':
		return "x" + r[1:]
	case r[0] == 'r' && r[1] >= '0' && r[1] <= '9':
		return strings.TrimRight(r, "dwb")
	case (r[0] == 'r' || r[0] == 'e') && len(r) == 3:
		return r[1:]
	}
	return r
}
