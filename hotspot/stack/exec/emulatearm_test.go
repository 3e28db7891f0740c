package exec

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// An armText is an instruction of aarch64 as disasm/arm64 prints it.
type armText struct {
	name     string
	operands []string // "x0", "sp", "#0x10", "[x29, #-8]!", "{v0.16b-v3.16b}", "lsl #3"
}

var armOperand = regexp.MustCompile(`\[[^]]*\]!?|\{[^}]*\}(\[\d+\])?|[^,\s][^,]*`)

func parseARM64(text string) armText {
	text, _, _ = strings.Cut(text, "//")
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	return armText{name, armOperand.FindAllString(strings.TrimSpace(rest), -1)}
}

func (t armText) String() string { return t.name + " " + strings.Join(t.operands, ", ") }

// general returns the number of a general register: 31 is sp, and 32 the zero register.
func (t *armText) general(i int) (number, size int, ok bool) {
	if i >= len(t.operands) {
		return 0, 0, false
	}
	return armRegister(strings.TrimSpace(t.operands[i]))
}

func armRegister(s string) (number, size int, ok bool) {
	switch s {
	case "sp":
		return sp, 8, true
	case "wsp":
		return sp, 4, true
	case "xzr", "wzr":
		return sp + 1, 8, true
	}
	if s == "" || s[0] != 'x' && s[0] != 'w' {
		return 0, 0, false
	}
	n, err := strconv.Atoi(s[1:])
	size = 8
	if s[0] == 'w' {
		size = 4
	}
	return n, size, err == nil && n <= 30
}

// armConstant returns the number in an operand like "#0x10" or "#-8".
func armConstant(s string) (uint64, bool) {
	s, ok := strings.CutPrefix(strings.TrimSpace(s), "#")
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), true
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return n, err == nil
}

// notWriting are instructions whose first operand is not written, and is not in memory.
var notWriting = regexp.MustCompile(`^(cmp|cmn|tst|ccmp|ccmn|cbn?z|tbn?z|prfu?m|msr|sys|dc|ic|at|tlbi|br\w*|ret|blr\w*|st\w*|` +
	`hint|rmif|setf\d+|fcmpe?|fccmpe?|udf|brk|hlt|svc|hvc|smc|dcps\d|cterm\w+|bl?)(\.\w+)?$`)

// executeARM64 executes an instruction that is not a branch.
func (e *emulator) executeARM64(in asm.Inst) {
	t := parseARM64(in.Text)
	memory := slices.IndexFunc(t.operands, func(s string) bool { return s[0] == '[' })
	switch {
	case memory >= 0 && t.name != "prfm":
		e.accessARM64(&t, memory)
	case t.name == "movk":
		e.setARM64(&t, 0, e.random.Uint64())
	case strings.HasPrefix(t.name, "mov"), t.name == "adr":
		e.setARM64(&t, 0, e.operandARM64(&t, 1))
	case t.name == "add" || t.name == "sub":
		a, b := e.operandARM64(&t, 1), e.operandARM64(&t, 2)
		if t.name == "sub" {
			b = -b
		}
		e.setARM64(&t, 0, a+b)
	case t.name == "and":
		e.setARM64(&t, 0, e.operandARM64(&t, 1)&e.operandARM64(&t, 2))
	case t.name == "orr":
		e.setARM64(&t, 0, e.operandARM64(&t, 1)|e.operandARM64(&t, 2))
	case notWriting.MatchString(t.name), strings.HasPrefix(t.name, "pac"), strings.HasPrefix(t.name,
		"aut"), strings.HasPrefix(t.name, "xpac"):
	default:
		e.setARM64(&t, 0, e.random.Uint64())
	}
}

// operandARM64 returns the value of an operand, and of the shift or extension after it.
func (e *emulator) operandARM64(t *armText, i int) uint64 {
	var v uint64
	if n, size, ok := t.general(i); ok && n <= sp {
		v = e.R[n] << (64 - 8*size) >> (64 - 8*size)
	} else if n, ok := armConstant(t.operands[i]); ok {
		v = n
	} else if !ok && !strings.HasSuffix(t.operands[i], "zr") {
		return e.random.Uint64()
	}
	if i+1 >= len(t.operands) {
		return v
	}
	kind, amount, _ := strings.Cut(strings.TrimSpace(t.operands[i+1]), " ")
	n, _ := armConstant(amount)
	switch kind {
	case "lsl", "uxtx":
		return v << n
	case "uxtw":
		return v & 0xffffffff << n
	case "lsr":
		return v >> n
	case "asr":
		return uint64(int64(v) >> n)
	case "ror":
		return v>>n | v<<(64-n)
	case "sxtw":
		return uint64(int64(int32(v))) << n
	}
	return v
}

func (e *emulator) setARM64(t *armText, i int, v uint64) {
	n, size, ok := t.general(i)
	if ok && n <= sp {
		e.R[n] = v << (64 - 8*size) >> (64 - 8*size)
	}
}

// sizesARM64 are the sizes of vector registers in loads and stores, in bytes.
var sizesARM64 = map[byte]int{'b': 1, 'h': 2, 's': 4, 'd': 8, 'q': 16, 'x': 8, 'w': 4}

// accessARM64 executes a load or a store. i is the operand in memory.
func (e *emulator) accessARM64(t *armText, i int) {
	inside, update := strings.CutSuffix(t.operands[i], "!")
	parts := strings.Split(strings.Trim(inside, "[]"), ",")
	base, _, _ := armRegister(parts[0])
	addr := e.R[base]
	if len(parts) > 1 {
		offset, ok := armConstant(parts[1])
		if !ok || len(parts) > 2 {
			addr, offset = e.random.Uint64(), 0 // the address with an index does not matter
		}
		addr += offset
	}
	for j, s := range t.operands[:i] {
		size := sizesARM64[s[0]]
		if n := sizesARM64[t.name[len(t.name)-1]]; s[0] == 'w' && n < size && n > 0 { // strb, strh
			size = n
		}
		e.transferARM64(t, j, addr, size)
		addr += uint64(size)
	}
	switch {
	case update:
		offset, _ := armConstant(parts[1])
		e.R[base] += offset
	case len(t.operands) > i+1: // post-indexed
		e.R[base] += e.operandARM64(t, i+1)
	}
}

// transferARM64 loads or stores one register.
func (e *emulator) transferARM64(t *armText, i int, addr uint64, size int) {
	n, _, general := t.general(i)
	v := e.random.Uint64()
	if general && n <= sp {
		v = e.R[n]
	}
	switch {
	case !strings.HasPrefix(t.name, "st") && !strings.HasPrefix(t.name, "ld"): // cas, swp
		e.setARM64(t, i, e.random.Uint64())
	case strings.HasPrefix(t.name, "st") && strings.Contains(t.name, "x") && i == 0: // stxr: the status
		e.setARM64(t, i, 0)
	case t.name == "str" || t.name == "stur":
		e.store(addr, v, min(size, 8))
	case strings.HasPrefix(t.name, "st"):
		e.write(addr, v, min(size, 8))
	case t.name == "ldr" || t.name == "ldur" || t.name == "ldp":
		e.setARM64(t, i, e.read(addr, min(size, 8)))
	default:
		e.setARM64(t, i, e.random.Uint64())
	}
}
