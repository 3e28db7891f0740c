package safepoints

import (
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// An access says how an instruction accesses an object: it reads or writes memory at an offset from the object's
// address.
type access struct {
	offset int // in bytes
	store  bool
	array  bool // the access is to an element of an array, so the number in offset does not identify a field
}

// header is the size in bytes of the part that all objects have, if class pointers are compressed: the mark word and
// the class. In an array, the length is at this offset.
const header = 12

// maxOffset limits the offset of a field in bytes. A larger number is not the offset of a field.
const maxOffset = 1 << 16

// accessOf finds out what an instruction accesses, from its text. ok is false if it accesses no object but, for
// example, the stack, the thread or a constant.
func accessOf(in *printassembly.Instruction) (a access, ok bool) {
	name, operands, _ := strings.Cut(in.Text, " ")
	if in.Kind != disasm.Plain || strings.HasPrefix(name, "lea") || strings.HasPrefix(name, "prf") ||
		strings.HasPrefix(name, "prefetch") || pads(in) {
		return a, false
	}
	if open := strings.IndexByte(operands, '('); open >= 0 {
		return accessATT(name, operands, open)
	}
	open, end := strings.IndexByte(operands, '['), strings.IndexByte(operands, ']')
	if open < 0 || end < open {
		return a, false
	}
	if inside := operands[open+1 : end]; strings.Contains(inside, "#") || strings.HasPrefix(inside, "x") ||
		strings.HasPrefix(inside, "sp") {
		return accessARM(name, inside)
	}
	a, ok = accessIntel(operands[open+1 : end])
	a.store = strings.HasPrefix(name, "mov") && strings.Contains(operands[end:], ",")
	return a, ok
}

// accessATT reads an operand of x86-64 in AT&T's syntax: 0xc(%r12,%r10,8). The parameter open is the index of the
// parenthesis.
func accessATT(name, operands string, open int) (a access, ok bool) {
	length := strings.IndexByte(operands[open:], ')')
	if length < 0 {
		return a, false
	}
	registers := strings.Split(operands[open+1:open+length], ",")
	before := operands[:open]
	comma := strings.LastIndexByte(before, ',')
	if a.offset, ok = number(strings.TrimSpace(before[comma+1:])); !ok {
		return a, false
	}
	a.store = comma >= 0 && strings.HasPrefix(name, "mov")
	switch base := strings.TrimPrefix(registers[0], "%"); {
	case len(registers) == 1:
		return a, isObject(base)
	case len(registers) == 3 && registers[2] == "8" && (base == compressed || base == ""):
	default:
		a.array = true
	}
	return a, true
}

// compressed is the register of x86-64 that has the base of the heap: an object with the compressed pointer p is at r12
// + 8 * p. A heap at low addresses needs no base.
const compressed = "r12"

// isObject reports whether a register of x86-64 may hold the address of an object. Three registers can't: they hold the
// addresses of the stack, of the thread and of the instruction.
func isObject(register string) bool {
	return register != "rsp" && register != "r15" && register != "rip"
}

// number reads an offset: "0xc", "16". An empty text is 0.
func number(text string) (n int, ok bool) {
	if text == "" {
		return 0, true
	}
	v, err := strconv.ParseUint(text, 0, 64)
	return int(v), err == nil && v < maxOffset
}

// accessIntel reads an operand of x86-64 in Intel's syntax: r12+r10*8+0xc.
func accessIntel(inside string) (a access, ok bool) {
	base, scaled := "", false
	for term := range strings.SplitSeq(inside, "+") {
		register, scale, isScaled := strings.Cut(term, "*")
		switch n, isNumber := number(term); {
		case isScaled && scale == "8":
			scaled = true
		case isScaled:
			a.array = true
		case isNumber:
			a.offset = n
		case base != "":
			a.array = true
		default:
			base = register
		}
	}
	if strings.Contains(inside, "-") {
		return a, false
	}
	a.array = a.array || scaled && base != compressed && base != ""
	return a, a.array || scaled || isObject(base)
}

// accessARM reads an operand of aarch64: x1, #12.
func accessARM(name, inside string) (a access, ok bool) {
	base, rest, more := strings.Cut(inside, ", ")
	a.store = strings.HasPrefix(name, "st")
	const thread = "x28"
	if base == "sp" || base == thread || base == "x29" {
		return a, false
	}
	digits, immediate := strings.CutPrefix(rest, "#")
	if a.array = more && !immediate; a.array {
		return a, true
	}
	a.offset, ok = number(digits)
	return a, ok
}

// matches reports whether an access may have been made for a bytecode.
func (a access) matches(r *printassembly.BodyRef) bool {
	switch r.Kind {
	case printassembly.FieldRead:
		return !a.array && !a.store && r.Offset == a.offset
	case printassembly.FieldWrite:
		return !a.array && a.store && r.Offset == a.offset
	case printassembly.ArrayRef:
		return a.array || a.offset == header && !a.store
	}
	return false
}
