package safepoints

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// maxCheck is the maximum number of instructions from the comparison of a class to the code for the case that the check
// fails.
const maxCheck = 40

// failure returns the record of the code that is executed if a type check fails. Instruction i must belong to the
// check: it compares the class, or loads the class right before that, or is the branch right after that. For other
// instructions, and if there is no such record, failure returns none.
//
// A failed check leads to an uncommon trap, to a slow path or, if the class was checked to inline a virtual call, to
// the call itself. All of these have the bytecode that the check is for.
func (s *spreader) failure(i int) int32 {
	compare := i
	switch {
	case comparesClass(&s.insts[i]):
	case i > 0 && s.insts[i].Kind == disasm.CondJump && comparesClass(&s.insts[i-1]):
		compare--
	case i+1 < len(s.insts) && s.insts[i].Kind == disasm.Plain && comparesClass(&s.insts[i+1]) &&
		loadsClass(&s.insts[i]):
		compare++
	default:
		return none
	}
	for k, n := compare+1, 0; k < len(s.insts) && n < maxCheck; n++ {
		if s.anchor[k] >= 0 {
			return s.anchor[k]
		}
		s.need(k, k)
		switch in := &s.insts[k]; {
		case in.Kind == disasm.Jump, in.Kind == disasm.CondJump && strings.HasPrefix(in.Text, "jne"):
			if k = s.jump(k); k < 0 {
				return none
			}
		case !s.falls(k):
			return none
		default:
			k++
		}
	}
	return none
}

// loadsClass reports whether an instruction of x86-64 may load the class of an object.
func loadsClass(in *printassembly.Instruction) bool {
	name, operands := split(in)
	return name == "mov" && (strings.HasPrefix(operands, "0x8(%") || strings.HasSuffix(operands, "+0x8]"))
}

// comparesClass reports whether an instruction compares something with a class.
func comparesClass(in *printassembly.Instruction) bool {
	_, ok := comment(in, "{metadata('")
	return ok && strings.HasPrefix(in.Text, "cmp")
}
