package safepoints

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// maxBack limits the search for the computation of a copied value. It is the maximum number of instructions before the
// copy that are examined.
const maxBack = 40

// definition returns the index of the instruction that has computed the value that instruction i copies from one
// register to another. It returns none if i is not such a copy, or if the value was not computed in the straight code
// before it.
//
// C2's register allocator makes these copies last of all, wherever it needs a value in another register. Their position
// does not show which method they belong to. In code with all records, they are most often in the method that has
// computed the value.
func (s *spreader) definition(i int) int {
	register := copied(&s.insts[i])
	for k := i - 1; register != "" && k >= 0 && k > i-maxBack; k-- {
		in := &s.insts[k]
		s.need(k, k)
		switch {
		case in.Hi != s.insts[k+1].Lo || in.Kind == disasm.Jump || in.Kind == disasm.Return:
			return none
		case in.Kind == disasm.Call:
			if isResult(register) {
				return k
			}
			return none
		case written(in) == register:
			from := copied(in)
			if from == "" {
				return k
			}
			register = from
		}
	}
	return none
}

// isResult reports whether a register is the one in which calls return their results.
func isResult(register string) bool { return register == "ax" || register == "x0" }

// copied returns the register that an instruction copies to another register, or "" if the instruction is not such a
// copy.
func copied(in *printassembly.Instruction) string {
	operands, ok := strings.CutPrefix(in.Text, "mov ")
	if !ok || in.Kind != disasm.Plain || strings.IndexByte(operands, '(') >= 0 || strings.IndexByte(operands, '[') >= 0 {
		return ""
	}
	first, second, _ := strings.Cut(operands, ",")
	if !strings.Contains(first, "%") { // in the other syntaxes, the destination comes first
		first, second = second, first
	}
	if family(second) == "" {
		return ""
	}
	return family(first)
}
