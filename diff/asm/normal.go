package asm

import (
	"regexp"
	"strconv"
	"strings"
)

// A Line is one instruction, normalised.
type Line struct {
	Addr  uint64
	Count int64
	Text  string // the instruction; what differs from run to run is replaced: "cmp $<metadata>,0x8(%rsi)"
	Frame string // the innermost Java frame; "" if there is none
	// InRegion is true for a line of the listed region, and false for a line of the code around it.
	InRegion bool

	shape    string // Text with the kinds of registers in place of their names: "cmp $<metadata>,0x8(%64)"
	jumpsTo  uint64 // the target of a jump within the code; 0 for all other instructions
	afterGap bool   // the code between the previous line and this one is not listed
}

// A Raw is an instruction as a report lists it.
type Raw struct {
	Addr     uint64
	Text     string
	Target   string // the name of the code that the instruction calls or jumps to
	Comments []string
	Count    int64
	Frame    string // the innermost Java frame
}

var (
	// Remarks that disassemblers write after the operands:
	//	vmulsd 0x160de7ed(%rip),%xmm7,%xmm7        # 0x7fae1ea188f8
	//	b.lt 0x00007f1000000f00  // b.tstop
	//	call 0x7fae1ea188f8 <Workload::area>
	remark = regexp.MustCompile(`\s+(#|//|;)\s.*$|\s+<[^>]*>$`)
	// Instructions that do nothing, which HotSpot uses for alignment:
	//	data16 data16 nopw 0x0(%rax,%rax,1)
	padding = regexp.MustCompile(`^(?:(?:data16|data32|addr32|[cd]s|rex\.?\w*) )*(?:nop[wl]?\b|xchg %ax,%ax|xchg ax,\s*ax)`)
	// Calls and jumps to an address, on x86 and aarch64:
	//	jl 0x00007f1000000ff0
	//	tbz x10, #0, 0x00007f1000001010
	branch = regexp.MustCompile(`^((?:j[a-z]+|call\w*|loop\w*|b|bl|b\.\w+|cbn?z|tbn?z) (?:.*, ?)?)(0x[0-9a-f]+)$`)
	// Operands relative to the program counter, in AT&T and Intel syntax.
	nearPC    = regexp.MustCompile(`-?0x[0-9a-f]+\(%rip\)|\[rip ?[-+] ?0x[0-9a-f]+\]`)
	immediate = regexp.MustCompile(`\$-?0x[0-9a-f]+`)
	longHex   = regexp.MustCompile(`-?\b0x[0-9a-f]{4,}\b`)
	// HotSpot's comments on values that it embeds in code: {oop(a 'java/lang/Class')}.
	embedded = regexp.MustCompile(`^\{(oop|metadata|external_word|internal_word|section_word)`)
	// Numbers of 9 to 12 hexadecimal digits are taken to be addresses in the process. They may have four leading zeros.
	// Longer and shorter numbers are taken to be constants of the program.
	addressHex = regexp.MustCompile(`\b0x(?:0000)?[0-9a-f]{9,12}\b`)
	// aarch64 loads a 64-bit constant in pieces of 16 bits:
	//	mov x8, #0x6390
	//	movk x8, #0x7f10, lsl #16
	movePart  = regexp.MustCompile(`^(?:movk|movz|mov|adrp) [xw]\d+, ?#?0x[0-9a-f]+`)
	stackSlot = regexp.MustCompile(`-?0x[0-9a-f]+\(%rsp\)|\[rsp ?[-+] ?0x[0-9a-f]+\]|\[sp, ?#?[-\w]+\]`)
	register  = regexp.MustCompile(`%?\b(?:[xyz]mm[0-9]+|k[0-7]|r[0-9]+[dwb]?|[re]?(?:[abcd]x|[sd]i|bp)|[abcd][lh]|[sd]il|bpl|[xwvqdsbhz][0-9]+)\b`)
)

// MaxSize is an upper bound for the size of a method's code, in bytes. If two addresses are further apart, they are in
// the code of different methods.
const MaxSize = 1 << 16

// Normalise returns the lines of a piece of code, and replaces everything in them that differs from run to run. A jump
// within the code becomes "jl <up>" or "jl <down>", and its target is kept in jumpsTo. Several padding instructions in
// a row become one line, which has the samples of all of them.
func Normalise(raw []Raw) []Line {
	var lines []Line
	for i := range raw {
		r := &raw[i]
		l := r.normal(i+1 < len(raw) && strings.HasPrefix(raw[i+1].Text, "movk"))
		if n := len(lines); n > 0 && l.Text == "nop" && lines[n-1].Text == "nop" {
			lines[n-1].Count += l.Count
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// normal normalises one instruction. beforeMovk is true if the next instruction is a movk. In that case, a mov loads
// only a part of a longer constant.
func (r *Raw) normal(beforeMovk bool) Line {
	l := Line{Addr: r.Addr, Count: r.Count, Frame: r.Frame}
	text := strings.Join(strings.Fields(remark.ReplaceAllString(strings.ReplaceAll(r.Text, "\t", " "), "")), " ")
	switch m := branch.FindStringSubmatch(text); {
	case padding.MatchString(text):
		text = "nop"
	case m != nil:
		text = m[1] + r.destination(m[2], &l)
	case movePart.MatchString(text) && (beforeMovk || strings.HasPrefix(text, "movk") || strings.HasPrefix(text, "adrp")):
		head, _, _ := strings.Cut(text, ",")
		text = head + ", <part>"
	default:
		text = r.withoutAddresses(text)
	}
	l.Text, l.shape = text, shapeOf(text)
	return l
}

// destination returns the text that replaces the target of a branch. It is "<name>" if the target has a name, "<up>" or
// "<down>" if the branch stays in the same code, and otherwise "<addr>". If the branch stays in the same code,
// destination also sets l.jumpsTo.
func (r *Raw) destination(hex string, l *Line) string {
	if r.Target != "" {
		return "<" + r.Target + ">"
	}
	to, err := strconv.ParseUint(hex[2:], 16, 64)
	switch {
	case err != nil || strings.HasPrefix(r.Text, "call") || strings.HasPrefix(r.Text, "bl "):
		return "<addr>"
	case to > r.Addr && to-r.Addr < MaxSize:
		l.jumpsTo = to
		return "<down>"
	case to <= r.Addr && r.Addr-to < MaxSize:
		l.jumpsTo = to
		return "<up>"
	}
	return "<addr>"
}

// withoutAddresses replaces addresses with words like <addr>, and values that HotSpot embeds in code with words like
// <oop>.
func (r *Raw) withoutAddresses(text string) string {
	text = nearPC.ReplaceAllString(text, "<const>(%rip)")
	for _, c := range r.Comments {
		if m := embedded.FindStringSubmatch(strings.TrimSpace(c)); m != nil {
			word := "<" + m[1] + ">"
			text = immediate.ReplaceAllString(text, "$$"+word)
			return longHex.ReplaceAllString(text, word)
		}
	}
	return addressHex.ReplaceAllString(text, "<addr>")
}

// shapeOf returns the text of an instruction, in which each register is replaced with its kind and width, and each
// stack slot with "<slot>".
func shapeOf(text string) string {
	mnemonic, operands, found := strings.Cut(text, " ")
	if !found {
		return text
	}
	operands = stackSlot.ReplaceAllString(operands, "<slot>")
	return mnemonic + " " + register.ReplaceAllStringFunc(operands, registerKind)
}

// registerKind returns "%32" for eax, %eax and r8d, "%xmm" for %xmm3, and "%x" for aarch64's x8.
func registerKind(name string) string {
	name = strings.TrimPrefix(name, "%")
	first, last := name[0], name[len(name)-1]
	switch {
	case strings.HasPrefix(name[1:], "mm"):
		return "%" + name[:3]
	case first == 'r' && (last == 'd' || last == 'w' || last == 'b') && name[1] <= '9':
		return "%" + map[byte]string{'d': "32", 'w': "16", 'b': "8"}[last]
	case first == 'r':
		return "%64"
	case first == 'e':
		return "%32"
	case last == 'l' || last == 'h':
		return "%8"
	case last >= '0' && last <= '9':
		return "%" + name[:1] // registers of aarch64, and mask registers of x86 (k1)
	}
	return "%16"
}

// Append appends the lines of the next region, whose code is at higher addresses. Regions are printed with a few lines
// of context before and after them, so two regions may overlap. Lines in the overlap are taken only once. If there is
// no overlap, the first line of the new region gets the mark afterGap.
func Append(lines, more []Line) []Line {
	gap := len(lines) > 0
	for _, l := range more {
		if n := len(lines); n > 0 && l.Addr <= lines[n-1].Addr {
			gap = false
			continue
		}
		l.afterGap = l.afterGap || gap
		gap = false
		lines = append(lines, l)
	}
	return lines
}
