package diff

import (
	"regexp"
	"strconv"
	"strings"
)

// A Line is one instruction, normalised.
type Line struct {
	Addr  uint64
	Count int64
	Text  string // without what differs from run to run
	Frame string // the innermost Java frame, "" without one
	shape string // Text without the numbers of registers and stack slots
	to    uint64 // where a jump goes within its code, 0 for all else
	own   bool   // of the region that is listed, not of one beside it
	gap   bool   // code between this line and the one before is not listed
}

// A rawLine is an instruction as a report has it.
type rawLine struct {
	addr     uint64
	text     string
	target   string // name of the code that it calls or jumps to
	comments []string
	count    int64
	frame    string
}

var (
	remark    = regexp.MustCompile(`\s+(#|//|;)\s.*$|\s+<[^>]*>$`)
	padding   = regexp.MustCompile(`^(?:(?:data16|data32|addr32|[cd]s|rex\.?\w*) )*(?:nop[wl]?\b|xchg %ax,%ax|xchg ax,\s*ax)`)
	branch    = regexp.MustCompile(`^((?:j[a-z]+|call\w*|loop\w*|b|bl|b\.\w+|cbn?z|tbn?z) (?:.*, ?)?)(0x[0-9a-f]+)$`)
	nearPC    = regexp.MustCompile(`-?0x[0-9a-f]+\(%rip\)|\[rip ?[-+] ?0x[0-9a-f]+\]`)
	immediate = regexp.MustCompile(`\$-?0x[0-9a-f]+`)
	longHex   = regexp.MustCompile(`-?\b0x[0-9a-f]{4,}\b`)
	embedded  = regexp.MustCompile(`^\{(oop|metadata|external_word|internal_word|section_word)`)
	// Addresses of a process have 9 to 12 digits, perhaps with zeros in front;
	// other long numbers are the program's.
	addressHex = regexp.MustCompile(`\b0x(?:0000)?[0-9a-f]{9,12}\b`)
	// A 64-bit constant of aarch64 is put together from 16-bit pieces.
	movePart  = regexp.MustCompile(`^(?:movk|movz|mov|adrp) [xw]\d+, ?#?0x[0-9a-f]+`)
	stackSlot = regexp.MustCompile(`-?0x[0-9a-f]+\(%rsp\)|\[rsp ?[-+] ?0x[0-9a-f]+\]|\[sp, ?#?[-\w]+\]`)
	register  = regexp.MustCompile(`%?\b(?:[xyz]mm[0-9]+|k[0-7]|r[0-9]+[dwb]?|[re]?(?:[abcd]x|[sd]i|bp)|[abcd][lh]|[sd]il|bpl|[xwvqdsbhz][0-9]+)\b`)
)

// normalise takes out of code what differs from run to run. Jumps within the
// code keep their direction and target; padding becomes one line.
func normalise(raw []rawLine) []Line {
	var lines []Line
	for i := range raw {
		r := &raw[i]
		l := r.normal(i+1 < len(raw) && strings.HasPrefix(raw[i+1].text, "movk"))
		if n := len(lines); n > 0 && l.Text == "nop" && lines[n-1].Text == "nop" {
			lines[n-1].Count += l.Count
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// normal normalises one instruction; beforePart tells that a movk follows.
func (r *rawLine) normal(beforePart bool) Line {
	l := Line{Addr: r.addr, Count: r.count, Frame: r.frame}
	text := strings.Join(strings.Fields(remark.ReplaceAllString(strings.ReplaceAll(r.text, "\t", " "), "")), " ")
	switch m := branch.FindStringSubmatch(text); {
	case padding.MatchString(text):
		text = "nop"
	case m != nil:
		text = m[1] + r.place(m[2], &l)
	case movePart.MatchString(text) && (beforePart || strings.HasPrefix(text, "movk") || strings.HasPrefix(text, "adrp")):
		head, _, _ := strings.Cut(text, ",")
		text = head + ", <part>"
	default:
		text = r.constants(text)
	}
	l.Text, l.shape = text, shapeOf(text)
	return l
}

// near is how far a jump goes within code of a method, at most.
const near = 1 << 16

// place writes where a branch goes: the name of other code, or the direction
// of a place in its own.
func (r *rawLine) place(hex string, l *Line) string {
	if r.target != "" {
		return "<" + r.target + ">"
	}
	to, err := strconv.ParseUint(hex[2:], 16, 64)
	switch {
	case err != nil || strings.HasPrefix(r.text, "call") || strings.HasPrefix(r.text, "bl "):
		return "<addr>"
	case to > r.addr && to-r.addr < near:
		l.to = to
		return "<down>"
	case to <= r.addr && r.addr-to < near:
		l.to = to
		return "<up>"
	}
	return "<addr>"
}

// constants puts words in the place of addresses and of what HotSpot embeds in
// code.
func (r *rawLine) constants(text string) string {
	text = nearPC.ReplaceAllString(text, "<const>(%rip)")
	for _, c := range r.comments {
		if m := embedded.FindStringSubmatch(strings.TrimSpace(c)); m != nil {
			word := "<" + m[1] + ">"
			text = immediate.ReplaceAllString(text, "$$"+word)
			return longHex.ReplaceAllString(text, word)
		}
	}
	return addressHex.ReplaceAllString(text, "<addr>")
}

// shapeOf leaves of registers only their kind and width.
func shapeOf(text string) string {
	mnemonic, operands, found := strings.Cut(text, " ")
	if !found {
		return text
	}
	operands = stackSlot.ReplaceAllString(operands, "<slot>")
	return mnemonic + " " + register.ReplaceAllStringFunc(operands, registerKind)
}

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
		return "%" + name[:1] // aarch64, and x86's masks
	}
	return "%16"
}
