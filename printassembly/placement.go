package printassembly

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
)

// In a hex dump that HotSpot printed, a comment has the address of a cell of four bytes, which may contain several
// instructions. The functions in this file use the text of the comment to guess to which of these instructions it
// belongs. The golden files of TestPlacement list the wrong guesses. On aarch64 a cell is one instruction, so no guess
// is needed.

// canHold reports whether an instruction can have a relocation of this kind. reloc is the text that
// nmethod::reloc_string_for prints, such as "{runtime_call UncommonTrapBlob}".
func canHold(in *Instruction, reloc string) bool {
	op, _, _ := strings.Cut(in.Text, " ")
	size := in.Hi - in.Lo
	hasAny := func(parts ...string) bool {
		for _, p := range parts {
			if strings.HasPrefix(reloc, "{"+p) {
				return true
			}
		}
		return false
	}
	switch {
	case hasAny("poll"):
		return (strings.HasPrefix(op, "test") || strings.HasPrefix(op, "cmp")) && strings.ContainsAny(in.Text, "([")
	case hasAny("post_call_nop"):
		return strings.HasPrefix(op, "nop")
	case hasAny("runtime_call", "static_call", "virtual_call", "opt", "static_stub"):
		// A jump of two bytes is too short for a relocatable address.
		return in.Kind != disasm.Plain && size > 2 || op == "movabs"
	case hasAny("metadata(method data"):
		return op == "movabs"
	case hasAny("oop", "metadata"):
		return size > 4 && (strings.Contains(in.Text, "$0x") || !strings.Contains(in.Text, "%") &&
			strings.Contains(in.Text, ",0x"))
	case hasAny("section_word", "internal_word", "external_word"):
		return strings.Contains(in.Text, "rip") || op == "movabs"
	}
	return true
}

// prepares is the debugRank of instructions that only prepare the next one, such as moves between registers. Only
// padding has a lower rank.
const prepares = 1

// debugRank returns how likely it is that HotSpot has debug info at the end of an instruction. Calls always have debug
// info, so they have the highest rank. Then come, in this order, returns, instructions that do what the bytecode in the
// comment says, jumps, all other instructions, and instructions that only prepare the next one. Padding never has debug
// info, so its rank is 0.
func debugRank(in *Instruction, text string) int {
	switch in.Kind {
	case disasm.Call:
		return 7
	case disasm.Return:
		return 6
	}
	op, operands, _ := strings.Cut(in.Text, " ")
	memory := strings.ContainsAny(operands, "([") && !strings.Contains(operands, "rsp")
	operands = strings.TrimSpace(operands)
	switch {
	case memory && strings.HasPrefix(op, "add") &&
		(strings.HasPrefix(operands, "$0x1,") || strings.HasSuffix(operands, ",0x1")):
		return prepares // C1 counts executions in the method's profile
	case performs(bytecode(text), op, in.Kind, memory):
		return 5
	case in.Kind == disasm.Jump || in.Kind == disasm.CondJump:
		return 4
	case strings.Contains(in.Text, "nop") || op == "data16" || op == "xchg" && strings.HasSuffix(operands, "ax"):
		return 0
	case op == "cltd" || op == "cqto" || op == "cdq" || op == "cqo":
		return prepares
	case (op == "mov" || op == "cmp" || op == "test") && !strings.Contains(operands, "0x") &&
		!strings.ContainsAny(operands, "(["):
		return prepares // between registers
	case strings.HasPrefix(op, "mov") && strings.Contains(operands, "rsp"):
		return prepares // to or from the stack
	}
	return 2
}

// bytecode returns the bytecode in a comment: "iadd" for "*iadd {reexecute=0 …}". It returns "" if there is none.
func bytecode(text string) string {
	if !strings.HasPrefix(text, "*") {
		return ""
	}
	name, _, _ := strings.Cut(text[1:], " ")
	return name
}

// arithmetic lists the instructions that a bytecode usually becomes: "iadd" becomes add, inc or lea. The list helps if
// a comment might belong to more than one instruction. Its words come without the letter for a bytecode's type (the i
// of iadd), without an instruction's suffix (the l of addl), and without AVX's prefix v.
var arithmetic = map[string][]string{
	"add": {"add", "inc", "lea"}, "inc": {"add", "inc", "lea", "sub", "dec"}, "sub": {"sub", "dec", "lea"},
	"mul": {"imul", "mul"},
	"div": {"idiv", "div"}, "rem": {"idiv"}, "neg": {"neg", "xor"}, "and": {"and"}, "or": {"or"}, "xor": {"xor"},
	"shl": {"shl", "sal"}, "shr": {"sar"}, "ushr": {"shr"},
}

// performs reports whether an instruction does what a bytecode says.
func performs(code, op string, kind disasm.Kind, memory bool) bool {
	switch {
	case code == "":
		return false
	case strings.HasPrefix(code, "if") || code == "goto" || strings.HasSuffix(code, "switch"):
		return kind == disasm.Jump || kind == disasm.CondJump
	case len(code) == 6 && strings.HasSuffix(code, "aload"), len(code) == 7 && strings.HasSuffix(code, "astore"),
		strings.HasPrefix(code, "get"), strings.HasPrefix(code, "put"), code == "arraylength":
		return memory // these bytecodes access array elements, fields or lengths of arrays
	}
	if strings.IndexByte("ilfd", code[0]) < 0 {
		return false
	}
	op = strings.TrimPrefix(op, "v")
	for _, stem := range arithmetic[code[1:]] {
		if strings.HasPrefix(op, stem) {
			return true
		}
	}
	return false
}
