package amd64

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// prefixes are the legacy prefixes of an instruction and its REX or REX2 prefix, which is the last one. objdump prints
// the name of each prefix that the instruction does not use: "data16 cs nopw …", "repz ret".
type prefixes struct {
	n     int    // number of prefix bytes, including REX or REX2 (see scanREX2)
	alone int    // if positive, this many prefixes are printed by name, without an instruction
	rex   byte   // the REX prefix, or the part of a REX2 prefix that is the same as in REX; 0 for neither
	used  uint16 // bit i is set if prefix i is visible in the rest of the text, so that its name is not printed

	waits bool // the code begins with an fwait that belongs to the x87 instruction after it

	data, addr, rep, lock, seg int8 // index of the last prefix of each kind, or -1

	rex2    bool // there is a REX2 prefix
	rex2At  int8 // its index
	payload byte // the second byte of the REX2 prefix
	high    byte // the bits R4, X4 and B4 of a REX2 or EVEX prefix, at the positions of R, X and B
	usedREX byte // bits of the REX2 prefix that have an effect

	renamed int8   // index of the prefix that is printed under a different name (F2 as "bnd"), or -1
	name    string // the name under which the prefix renamed is printed
	hint    string // what a branch hint appends to the mnemonic: ",pt"
}

const (
	rexW, rexR, rexX, rexB = 8, 4, 2, 1

	prefixData, prefixAddr  = 0x66, 0x67
	prefixRepne, prefixRepe = 0xf2, 0xf3
	prefixLock              = 0xf0
	prefixES, prefixCS      = 0x26, 0x2e
	prefixSS, prefixDS      = 0x36, 0x3e
	prefixFS, prefixGS      = 0x64, 0x65
	fwait                   = 0x9b
)

// scanPrefixes reads the prefixes at the start of x.code.
func (x *x86) scanPrefixes() {
	x.prefixes = prefixes{data: -1, addr: -1, rep: -1, lock: -1, seg: -1, renamed: -1}
	p := &x.prefixes
	for p.n < len(x.code) {
		b := x.code[p.n]
		switch {
		case b&0xf0 == 0x40:
			p.n++
			if p.n < len(x.code) && isPrefix(x.code[p.n]) { // REX only counts directly before the opcode
				p.alone = p.n
				return
			}
			p.rex = b
			return
		case b == rex2Prefix && p.n+1 < len(x.code) && p.n < maxInstLen-2:
			x.scanREX2()
			return
		case b == fwait:
			if p.n > 0 || len(x.code) < 2 || x.code[1]&0xf8 != 0xd8 {
				return
			}
			p.used, p.waits = 1, true
		case !p.record(b):
			return
		}
		p.n++
		if p.n == maxInstLen-1 { // no room is left for an instruction
			p.alone = p.n
			return
		}
	}
}

// record reports whether the byte b is a prefix other than REX. If so, it records the position of b.
func (p *prefixes) record(b byte) bool {
	i := int8(p.n)
	switch b {
	case prefixData:
		p.data = i
	case prefixAddr:
		p.addr = i
	case prefixRepne, prefixRepe:
		p.rep = i
	case prefixLock:
		p.lock = i
	case prefixES, prefixCS, prefixSS, prefixDS, prefixFS, prefixGS:
		p.seg = i
	default:
		return false
	}
	return true
}

// isPrefix reports whether b is a prefix, including REX, REX2 and fwait.
func isPrefix(b byte) bool {
	return b&0xf0 == 0x40 || b == fwait || b == rex2Prefix || new(prefixes).record(b)
}

// use marks prefix i as used by the instruction, so that its name is not printed. It does nothing if i is -1, which
// means that there is no prefix.
func (p *prefixes) use(i int8) {
	if i >= 0 {
		p.used |= 1 << i
	}
}

// segment returns the segment override with a colon: "fs:" or "gs:". It returns "" if there is none. Other segments
// have no effect in 64-bit mode.
func (x *x86) segment() string {
	switch i := x.segmentPrefix(); {
	case i < 0:
		return ""
	case x.code[i] == prefixFS:
		return fsNames[x.syntax]
	default:
		return gsNames[x.syntax]
	}
}

// segmentPrefix returns the index of the last fs or gs prefix, or -1.
func (x *x86) segmentPrefix() int8 {
	if x.seg < 0 {
		return -1
	}
	for i := x.n - 1; i >= 0; i-- {
		if x.code[i] == prefixFS || x.code[i] == prefixGS {
			return int8(i)
		}
	}
	return -1
}

// settlePrefixes decides which prefixes are printed by name, and under which name: F2 before jmp is "bnd". The operands
// must be known.
func (x *x86) settlePrefixes() {
	if x.n == 0 {
		return
	}
	switch {
	case x.rex2:
		x.settleREX2()
	case x.rex&rexW != 0 && x.spell.noW || x.rex&rexR != 0 && x.regFieldIsOpcode():
		x.used &^= 1 << (x.n - 1)
	}
	if x.seg >= 0 {
		x.settleSegment()
	}
	if x.rep >= 0 {
		x.settleRep()
	}
}

func (x *x86) settleSegment() {
	b := x.code[x.seg]
	_, direct := x.args[0].(x86asm.Rel)
	switch {
	case x.mem.ok || x.isMoffs():
		if x.segmentPrefix() >= 0 {
			x.use(x.seg)
		}
	case x.spell.implied:
		if x.readsImplied() {
			x.use(x.seg)
		}
	case x.spell.kind == asm.CondJump && x.syntax == asm.ATT:
		x.settleHint()
	}
	if b == prefixDS && x.spell.indirect && !direct && x.spell.suffix == suffixWord {
		x.rename(x.seg, "notrack")
	}
}

// settleHint turns a cs or ds prefix of a conditional jump into a branch hint: "jne,pn" or "jne,pt". It does nothing
// if the jump has both prefixes.
func (x *x86) settleHint() {
	cs := bytes.IndexByte(x.code[:x.n], prefixCS) >= 0
	ds := bytes.IndexByte(x.code[:x.n], prefixDS) >= 0
	if cs == ds {
		return
	}
	x.use(x.seg)
	x.hint = ",pn"
	if ds {
		x.hint = ",pt"
	}
}

// readsImplied reports whether a string instruction reads memory in a segment that a prefix can override.
func (x *x86) readsImplied() bool {
	for _, a := range x.args {
		if m, ok := a.(x86asm.Mem); ok && m.Segment != x86asm.ES {
			return true
		}
	}
	return false
}

func (x *x86) settleRep() {
	repe := x.code[x.rep] == prefixRepe
	_, mem := x.args[0].(x86asm.Mem)
	switch {
	case x.vec.form != 0:
	case repe && x.spell.rep:
		x.rename(x.rep, "rep")
	case !repe && x.spell.near:
		x.rename(x.rep, "bnd")
	case !x.mem.ok || !mem:
	case x.spell.lockable && (x.lock >= 0 || x.op[0]&^1 == 0x86):
		x.rename(x.rep, [...]string{"xacquire", "xrelease"}[x.code[x.rep]&1])
	case repe && (x.op[0]&^1 == 0x88 || x.op[0]&^1 == 0xc6):
		x.rename(x.rep, "xrelease")
	}
}

// rename sets the name under which prefix i is printed, instead of its usual name.
func (p *prefixes) rename(i int8, name string) {
	p.renamed, p.name = i, name
}

var (
	fsNames = [...]string{asm.ATT: "%fs:", asm.Intel: "fs:"}
	gsNames = [...]string{asm.ATT: "%gs:", asm.Intel: "gs:"}
)

// appendPrefixNames appends the names of the unused and of the renamed prefixes, each followed by a blank. It only
// looks at the first n prefixes.
func (x *x86) appendPrefixNames(n int) {
	for i, b := range x.code[:n] {
		switch {
		case int8(i) == x.renamed:
			x.buf = append(append(x.buf, x.name...), ' ')
		case x.rex2 && i >= int(x.rex2At):
			if i == x.n-1 && x.used&(1<<i) == 0 {
				x.buf = append(append(x.buf, x.rex2Name()...), ' ')
			}
		case x.used&(1<<i) == 0:
			x.buf = append(append(x.buf, prefixName(b)...), ' ')
		}
	}
}

func prefixName(b byte) string {
	switch b {
	case prefixES:
		return "es"
	case prefixCS:
		return "cs"
	case prefixSS:
		return "ss"
	case prefixDS:
		return "ds"
	case prefixFS:
		return "fs"
	case prefixGS:
		return "gs"
	case prefixData:
		return "data16"
	case prefixAddr:
		return "addr32"
	case prefixLock:
		return "lock"
	case prefixRepne:
		return "repnz"
	case prefixRepe:
		return "repz"
	}
	return rexNames[b&15]
}

var rexNames = [16]string{
	"rex", "rex.B", "rex.X", "rex.XB", "rex.R", "rex.RB", "rex.RX", "rex.RXB",
	"rex.W", "rex.WB", "rex.WX", "rex.WXB", "rex.WR", "rex.WRB", "rex.WRX", "rex.WRXB",
}
