package loops

import (
	"strconv"
	"strings"
)

// A reg is a register, or a part of the flags, that carries values from instruction to instruction.
type reg int8

// The registers. The general ones come first, with the same numbers as in machine code (0 is rax).
const (
	rax reg = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
	vector0   reg = 16             // xmm0, ymm0, zmm0
	mask0     reg = vector0 + 32   // k0
	carry     reg = mask0 + 8      // the carry flag
	flags     reg = carry + 1      // all flags except the carry flag
	registers     = int(flags) + 1 // number of all these
	noReg     reg = -1
)

// A kind says what an operand is.
type kind int8

const (
	other kind = iota // an address without registers, or a register whose values are not followed
	register
	memory
	immediate
)

// An operand is an operand of an x86-64 instruction.
type operand struct {
	kind kind
	reg  reg  // noReg if the operand is not a known register
	bits int  // width of a register: 8 to 512
	high bool // ah, bh, ch or dh
	// base and index are the registers of an address, or noReg.
	base, index reg
	value       int64  // value of an immediate or a displacement
	text        string // the operand's text in the instruction
}

// vector reports whether an operand is a vector register.
func (o *operand) vector() bool { return o.kind == register && o.reg >= vector0 && o.reg < mask0 }

// An inst is an instruction whose text was parsed. The operands are in the order of AT&T's syntax: the destination is
// the last one.
type inst struct {
	mnemonic string
	prefix   string // lock or rep…; "" if there is no prefix
	ops      []operand
	masked   bool // an operand has a mask register in braces
	// The table's entry for the instruction. lookUp sets these fields. If there is no entry, known is false.
	name      string
	operation operation
	vex       bool
	known     bool
}

// prefixes are the words before a mnemonic. A prefix with the value false has no effect on what the instruction
// computes.
var prefixes = map[string]bool{"lock": true, "rep": true, "repz": true, "repnz": true, "repe": true, "repne": true,
	"xacquire": true, "xrelease": true,
	"data16": false, "addr32": false, "rex.W": false, "{evex}": false, "{vex}": false, "notrack": false, "bnd": false,
	"cs": false, "ds": false, "es": false, "ss": false, "fs": false, "gs": false}

// parse parses the text of an x86-64 instruction, in either syntax.
func parse(text string) inst {
	if i := strings.Index(text, " #"); i >= 0 { // an address, resolved: # 0x7fae1ea188f0
		text = text[:i]
	}
	if i := strings.Index(text, " <"); i >= 0 { // a symbol
		text = text[:i]
	}
	var in inst
	rest := strings.TrimSpace(text)
	for {
		in.mnemonic, rest, _ = strings.Cut(rest, " ")
		in.mnemonic = strings.TrimSuffix(in.mnemonic, ",pn")
		rest = strings.TrimSpace(rest)
		effective, is := prefixes[in.mnemonic]
		if !is || rest == "" {
			break
		}
		if effective {
			in.prefix = in.mnemonic
		}
	}
	att := strings.ContainsAny(rest, "%$") || !strings.Contains(rest, "[") && strings.Contains(rest, "(")
	for _, field := range splitOperands(rest) {
		if i := strings.IndexByte(field, '{'); i >= 0 {
			in.masked = in.masked || strings.Contains(field[i:], "{k") || strings.Contains(field[i:], "{%k")
			if field = strings.TrimSpace(field[:i]); field == "" {
				continue // a rounding mode: {rn-sae}
			}
		}
		in.ops = append(in.ops, parseOperand(field, att))
	}
	if !att {
		for i, j := 0, len(in.ops)-1; i < j; i, j = i+1, j-1 {
			in.ops[i], in.ops[j] = in.ops[j], in.ops[i]
		}
	}
	in.lookUp()
	return in
}

// maxOperands limits the operands of an instruction. No instruction has more than five.
const maxOperands = 8

// splitOperands cuts operands at the commas that are not in parentheses or brackets.
func splitOperands(text string) []string {
	var fields []string
	depth, start := 0, 0
	for i := 0; i < len(text) && len(fields) < maxOperands; i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				fields = append(fields, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(text[start:]); last != "" {
		fields = append(fields, last)
	}
	return fields
}

// parseOperand parses one operand.
func parseOperand(field string, att bool) operand {
	o := operand{reg: noReg, base: noReg, index: noReg, text: field}
	name, isReg := strings.CutPrefix(field, "%")
	switch {
	case att && strings.HasPrefix(field, "$"):
		o.kind = immediate
		o.value, _ = parseNumber(field[1:])
	case att && strings.Contains(field, "("):
		open := strings.IndexByte(field, '(')
		o.kind = memory
		before := field[:open]
		if i := strings.IndexByte(before, ':'); i >= 0 { // a segment: %fs:0x10
			before = before[i+1:]
		}
		o.value, _ = parseNumber(before)
		for i, part := range strings.Split(strings.Trim(field[open:], "()"), ",") {
			part = strings.TrimSpace(strings.TrimPrefix(part, "%"))
			r, _, _ := registerOf(part)
			switch i {
			case 0:
				o.base = r
			case 1:
				o.index = r
			}
		}
	case !att && strings.Contains(field, "["):
		o.kind = memory
		o.parseIntelAddress(field[strings.IndexByte(field, '[')+1:])
	case isReg || !att:
		r, bits, high := registerOf(name)
		if r != noReg {
			o.kind, o.reg, o.bits, o.high = register, r, bits, high
		} else if n, ok := parseNumber(field); ok && !att {
			o.kind, o.value = immediate, n
		}
	}
	return o
}

// parseIntelAddress parses what follows the bracket of an address such as [r10+r9*8+0x28].
func (o *operand) parseIntelAddress(text string) {
	text, _, _ = strings.Cut(text, "]")
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(text, "-", "+-"), func(r rune) bool { return r == '+' }) {
		name, _, scaled := strings.Cut(part, "*")
		switch r, _, _ := registerOf(name); {
		case r == noReg:
			o.value, _ = parseNumber(part)
		case scaled:
			o.index = r
		case o.base == noReg:
			o.base = r
		default:
			o.index = r
		}
	}
}

// parseNumber parses a number such as 0x10 or -0x10.
func parseNumber(text string) (int64, bool) {
	negative := strings.HasPrefix(text, "-")
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "-"), 0, 64)
	if negative {
		return -int64(n), err == nil
	}
	return int64(n), err == nil
}

// A registerName says which register a name refers to, and which part of the register.
type registerName struct {
	reg  reg
	bits int
	high bool
}

// registerNames has the registers by name.
var registerNames = nameRegisters()

func nameRegisters() map[string]registerName {
	names := map[string]registerName{}
	for i, n := range []string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"} {
		r := reg(i)
		names["r"+n], names["e"+n], names[n] = registerName{r, 64, false}, registerName{r, 32, false}, registerName{r, 16,
			false}
		if i < 4 {
			names[n[:1]+"l"], names[n[:1]+"h"] = registerName{r, 8, false}, registerName{r, 8, true}
		} else {
			names[n+"l"] = registerName{r, 8, false}
		}
	}
	for i := 8; i < 16; i++ {
		n, r := "r"+strconv.Itoa(i), reg(i)
		names[n], names[n+"d"], names[n+"w"], names[n+"b"] = registerName{r, 64, false}, registerName{r, 32,
			false}, registerName{r, 16, false}, registerName{r, 8, false}
	}
	for i := range 32 {
		n, r := strconv.Itoa(i), vector0+reg(i)
		names["xmm"+n], names["ymm"+n], names["zmm"+n] = registerName{r, 128, false}, registerName{r, 256,
			false}, registerName{r, 512, false}
	}
	for i := range 8 {
		names["k"+strconv.Itoa(i)] = registerName{mask0 + reg(i), 64, false}
	}
	return names
}

// registerOf returns the register with a name, its width in bits, and whether the name is that of a high byte.
func registerOf(name string) (reg, int, bool) {
	if n, ok := registerNames[name]; ok {
		return n.reg, n.bits, n.high
	}
	return noReg, 0, false
}
