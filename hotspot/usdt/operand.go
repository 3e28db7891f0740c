package usdt

import (
	"debug/elf"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// An Operand says where an argument is when a probe is reached.
type Operand struct {
	// Text is the operand as it stands in the note, such as "-4@%eax".
	Text string
	// Size is the size of the argument in bytes, 1 to 8, or 0 if its form is unknown.
	Size   int
	Signed bool

	Form
	// Register and Index are registers. Each is an offset in bytes in the kernel's struct pt_regs.
	// The address of a MemoryForm is the Register plus the Number plus the Index times the Scale.
	// If the address has no index register, Index is -1.
	Register, Index int
	Scale           int
	Number          int64 // the constant, or the offset from the register
}

// A Form is a kind of operand.
type Form uint8

// The forms.
const (
	UnknownForm Form = iota
	ConstantForm
	RegisterForm
	MemoryForm
)

// An operandSyntax describes how the assembler of one machine writes operands.
type operandSyntax struct {
	registers map[string]int // by name, without the %
	parse     func(set operandSyntax, text string, o *Operand)
}

func operandsOf(machine elf.Machine) (operandSyntax, error) {
	switch machine {
	case elf.EM_X86_64:
		return operandSyntax{x86Registers(), parseX86}, nil
	case elf.EM_AARCH64:
		return operandSyntax{armRegisters(), parseARM}, nil
	}
	return operandSyntax{}, fmt.Errorf("no operands of %v", machine)
}

// argumentStart matches the start of an argument, such as "-4@" or "8f@". It has the size of the
// argument, which is negative if the number is signed. An f marks a floating-point number.
var argumentStart = regexp.MustCompile(`(?:^| )(-?[1248])(f?)@`)

// parseOperands reads the arguments of a note. If it does not know the form of an operand, the
// operand gets UnknownForm.
func parseOperands(text string, set operandSyntax) []Operand {
	starts := argumentStart.FindAllStringSubmatchIndex(text, -1)
	var operands []Operand
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		size, _ := strconv.Atoi(text[s[2]:s[3]]) // no error: the regular expression allows only digits
		o := Operand{Text: text[s[2]:end], Size: max(size, -size), Signed: size < 0, Register: -1, Index: -1}
		if s[4] == s[5] { // no f; floating-point arguments stay unknown
			set.parse(set, strings.TrimSpace(text[s[1]:end]), &o)
		}
		if o.Form == UnknownForm {
			o.Size = 0
		}
		operands = append(operands, o)
	}
	return operands
}

// value returns the operand's value. raw has the 8 bytes that were read for the operand; only the
// lowest Size bytes of them count. For a constant, raw is ignored.
func (o *Operand) value(raw uint64) int64 {
	if o.Form == ConstantForm {
		raw = uint64(o.Number)
	}
	unused := 64 - 8*uint(o.Size)
	if o.Signed {
		return int64(raw<<unused) >> unused
	}
	return int64(raw << unused >> unused)
}

// memoryX86 matches a memory operand of x86-64: -60(%rbp), (%rax,%rcx,8).
var memoryX86 = regexp.MustCompile(`^(-?\d+)?\(%(\w+)(?:,%(\w+)(?:,([1248]))?)?\)$`)

func parseX86(set operandSyntax, text string, o *Operand) {
	if number, ok := strings.CutPrefix(text, "$"); ok {
		o.constant(number)
		return
	}
	if name, ok := strings.CutPrefix(text, "%"); ok {
		o.register(set, name)
		return
	}
	if m := memoryX86.FindStringSubmatch(text); m != nil {
		o.memory(set, m[2], m[3], m[4], m[1])
	}
}

// memoryARM matches a memory operand of aarch64: [sp, 24], [x19], [x0, x1], [x0, x1, lsl 3].
var memoryARM = regexp.MustCompile(`^\[(\w+)(?:, ?#?(-?\d+))?(?:, ?(x\d+)(?:, ?lsl #?([0-3]))?)?\]$`)

func parseARM(set operandSyntax, text string, o *Operand) {
	if m := memoryARM.FindStringSubmatch(text); m != nil {
		scale := ""
		if m[4] != "" {
			shift, _ := strconv.Atoi(m[4]) // no error: the regular expression allows only digits
			scale = strconv.Itoa(1 << shift)
		}
		o.memory(set, m[1], m[3], scale, m[2])
		return
	}
	if text == "xzr" || text == "wzr" {
		o.constant("0")
		return
	}
	if o.register(set, text); o.Form == UnknownForm {
		o.constant(strings.TrimPrefix(text, "#"))
	}
}

func (o *Operand) constant(number string) {
	n, err := strconv.ParseInt(number, 0, 64)
	if err != nil {
		u, err := strconv.ParseUint(number, 0, 64)
		if err != nil {
			return
		}
		n = int64(u)
	}
	o.Form, o.Number = ConstantForm, n
}

func (o *Operand) register(set operandSyntax, name string) {
	if at, ok := set.registers[name]; ok {
		o.Form, o.Register = RegisterForm, at
	}
}

func (o *Operand) memory(set operandSyntax, base, index, scale, number string) {
	var ok bool
	if o.Register, ok = set.registers[base]; !ok {
		return
	}
	if index != "" {
		if o.Index, ok = set.registers[index]; !ok {
			return
		}
	}
	o.Scale = 1
	if scale != "" {
		o.Scale, _ = strconv.Atoi(scale) // no error: the regular expression allows only digits
	}
	if number != "" {
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return // no instruction has an offset that large
		}
		o.Number = n
	}
	o.Form = MemoryForm
}

// x86Registers maps the names of the registers to their offsets in bytes in struct pt_regs
// (arch/x86/include/uapi/asm/ptrace.h). %ah, %bh, %ch and %dh are missing, because they are not the
// lowest byte of a register.
func x86Registers() map[string]int {
	places := map[string]int{}
	for i, name := range []string{"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8", "ax", "cx", "dx", "si",
		"di"} {
		names := []string{name, name + "d", name + "w", name + "b"}
		if name[0] != 'r' {
			names = []string{"r" + name, "e" + name, name, strings.TrimSuffix(name, "x") + "l"}
		}
		for _, n := range names {
			places[n] = 8 * i
		}
	}
	places["rsp"], places["esp"] = 8*19, 8*19
	return places
}

// armRegisters maps the names of the registers to their offsets in bytes in struct user_pt_regs
// (arch/arm64/include/uapi/asm/ptrace.h).
func armRegisters() map[string]int {
	places := map[string]int{"sp": 8 * 31, "wsp": 8 * 31}
	for i := range 31 {
		places["x"+strconv.Itoa(i)], places["w"+strconv.Itoa(i)] = 8*i, 8*i
	}
	return places
}
