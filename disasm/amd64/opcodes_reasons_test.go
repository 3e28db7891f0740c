package amd64

import "regexp"

// An opcodeReason is a reason for differences between Decode and objdump. It applies to instructions whose mnemonics
// match both regular expressions. An expression has to match the whole mnemonic. The mnemonic is "-" if the bytes are
// not an instruction.
type opcodeReason struct {
	name      string // in known.txt
	set       string // "" for all sets; "legacy" and "evex" include the sets of APX instructions
	want, got string // objdump's mnemonic, Decode's
	only      func(difference) bool
	used      bool // set by TestEveryOpcode
}

const anyMnemonic = `[a-z0-9]+`

const scalarOrPacked = `[sp][sd]`

// opcodeReasons are tried in this order. TestEveryOpcode fails for a difference without a reason, whatever known.txt
// says.
var opcodeReasons = []opcodeReason{
	// The processor faults on the encoding, and objdump says so: a bit or prefix is set that must be clear (W, L, a
	// prefix of the opcode, a register instead of a memory operand). Decode decodes it as the instruction with that
	// bit clear. Or the instruction is too new for objdump 2.44.
	{name: "reserved", want: "-", got: `[a-z][a-z0-9_]*`},
	// A bit is set that must be clear, as for "reserved", but here objdump ignores the bit, and Decode does not.
	{name: "reserved-w", set: "evex", want: `v(add|sub|mul|div|min|max|sqrt)pd|vmov[ulh]pd|vpsh[lr]dw|vrsqrt14p[sd]`,
		got: "-"},
	{name: "reserved-w", set: "evex", want: `vcmps\{bale_oqd\}`, got: "-"},
	{name: "reserved-w", set: "evex", want: `vmpsadbw`, got: `vmpsadbw`},
	{name: "reserved-w", set: "evex", want: `vcmp[sp]\{bale_oqd\}`, got: `vcmple_oq[sp][sh]`},
	// EVEX.b on instructions that do not repeat an element. objdump computes the size of an element from W.
	{name: "reserved-broadcast", set: "evex", want: `v[a-z0-9]+`, got: `v[a-z0-9]+`, only: isBroadcast},
	// objdump 2.44 takes the length of a scalar's destination from L, which the processor ignores.
	{name: "scalar-length", want: `vmovs[sd]`, got: `vmovs[sd]`},
	{name: "scalar-length", set: "evex", want: `v(exp2|rcp28|rsqrt28)p[sd]`, got: `v(exp2|rcp28|rsqrt28)p[sd]`},
	// With W the mask is written as a 64-bit register. Without W its upper half is zero as well.
	{name: "mask-register", set: "vex", want: `vmovmskp[sd]|vpmovmskb`, got: `vmovmskp[sd]|vpmovmskb`},
	// Decode does not know the size of the operand.
	{name: "size", want: `vlddqu`, got: `vlddqu`},

	// Extensions that Decode does not know, and that HotSpot does not use: AMD's FMA4 and SSE4a, Key Locker, AMX, MPX,
	// CMPccXADD with a VEX prefix, Xeon Phi, encryption on VIA's processors.
	{name: "fma4", set: "vex", want: `vfn?m(add|sub)(add|sub)?` + scalarOrPacked + `|vpermil2p[sd]`, got: "-"},
	{name: "amd", set: "legacy", want: `extrq|vmgexit|femms`, got: `-|vmread|vmwrite`},
	{name: "key-locker", set: "legacy", want: `aes(en|de)c(wide)?(128|256)kl|encodekey(128|256)|loadiwkey`, got: "-"},
	{name: "amx",
		want: `t(tile|tdp|dp|cvtrow|2rpntlvwz|conj|tcmm|cmm|mmul|tmmul|trans)[a-z0-9]*|tile[a-z0-9]+|(ld|st)tilecfg`,
		got:  "-"},
	// nop with operands that MPX does not allow
	{name: "mpx", set: "legacy", want: `bnd(cl|ldx|stx|mk|mov)|nop`, got: "-"},
	{name: "cmpccxadd", want: `cmp[a-z]+xadd`, got: "-"},
	{name: "xeon-phi", set: "evex", want: `v4fn?maddps|vp4dpwssds?|v(exp2|rcp28|rsqrt28)p[sd]`, got: "-"},
	{name: "xeon-phi", set: "legacy", want: `prefetchwt1`, got: "-"},
	{name: "via", set: "legacy", want: `sm[34]`, got: "-"},
	{name: "new", set: "legacy", want: `movrs|uwrmsr`, got: "-"},
	{name: "new", set: "legacy", want: `prefetch(it[01]|rst2)`, got: `nop[lwq]?`},
	{name: "new", set: "egpr", want: `vpmovssdb|vunpackb|vbitrevb|vbmacx?or16x16x16|top[24][a-z0-9]+`, got: "-"},
	{name: "new", set: "egpr", want: `vcvt[hb]f82(bf[46]s|hf6s)|vcvt[hb]f62hf8`, got: "-"},
	{name: "8087", set: "legacy", want: `fndisi\(8087`, got: "-"},

	// A 66 or F3 prefix before an instruction that does not use it, where no assembler puts it. Most are spelled
	// differently ("data16 ret" for "retw"), and some are not decoded.
	{name: "needless-f3", set: "legacy", want: `fxrstor|fxsave|getsec|prefetch|vmcall|vmptrst|femms`,
		got: "-", only: isREP},
	{name: "needless-f3", set: "legacy", want: `ldmxcsr|stmxcsr`, got: `wr[fg]sbase`, only: isREP},
	{name: "needless-f3", set: "legacy", want: `nopl?|verr|verw|lldt|ltr`,
		got: `nopl?|verr|verw|lldt|ltr`, only: isREP},
	{name: "needless-66", set: "legacy", want: `(enter|leave|lret|retf|ret|l?call|l?jmp)w?`,
		got: `(enter|leave|lret|retf|ret|l?call|l?jmp)w?`, only: isData16},
	{name: "needless-66", set: "legacy", want: `(fldenv|fnstenv|frstor|fnsave)[sw]`,
		got: `fldenv|fnstenv|frstor|fnsave`, only: isData16},
	{name: "needless-66", set: "legacy", want: `nop[wq]?`, got: `cldemote`, only: isData16},
	{name: "needless-66", set: "legacy", want: `push|pop`, got: `pushw|popw`, only: isData16},
	{name: "needless-66", set: "legacy", want: `ud[01]|verr|verw|lldt|ltr`,
		got: `ud[01]|verr|verw|lldt|ltr`, only: isData16},
	{name: "needless-66", set: "legacy",
		want: `fxrstor|fxsave|xrstors|xsavec|xsaves|cmpxchg8b|sldt|str|smsw|xlat|mov`,
		got:  `fxrstor|fxsave|xrstors|xsavec|xsaves|cmpxchg8b|sldt|str|smsw|xlat|mov`, only: isData16},

	// Instructions for kernels.
	{name: "system", set: "legacy", want: `sysexit[ld]|mwait|lldt|ltr|verr|verw`,
		got: `sysexit|mwait|lldt|ltr|verr|verw`},
	// mov from and to control registers with a ModRM byte for memory. The processor ignores that, Decode does not.
	{name: "system", set: "legacy", want: `mov`, got: `mov`, only: isControlMove},
	// The manual only has lfence at 0F AE E8, but processors also accept E9 to EF.
	{name: "lfence", set: "legacy", want: `lfence`, got: "-"},
	// objdump inserts the predicate in the middle of "bf16": "vcmpbfle_oq16".
	{name: "predicate", set: "evex", want: `vcmpbf[a-z0-9_]+|vcmp\{bale_oqd\}`, got: `vcmpbf16`},
	// objdump accepts prefixes and masks that these instructions do not allow.
	{name: "reserved-prefix", set: "evex", want: `vmov[dw]|vsm3msg[12]`, got: "-"},
	// objdump omits {evex}.
	{name: "evex-mark", set: "evex", want: `vpermpd|vpextrw`, got: `vpermpd|vpextrw`},

	// REX2, APX's prefix. objdump 2.44 writes its payload although the instruction uses all bits.
	{name: "rex2-payload", set: "legacy", want: `xchg|adc`, got: `xchg|adc`, only: isREX2},
	// Decode and objdump disagree about the bits that the instruction uses, or about the prefixes before.
	{name: "rex2-mark", set: "rex2", want: anyMnemonic, got: anyMnemonic, only: isMarked},
	// B4 does not extend vector registers, but objdump writes "%xmm25".
	{name: "rex2-vector", set: "rex2", want: anyMnemonic, got: anyMnemonic, only: isHighVector},
	// objdump takes the operation for bound, whose opcode in another map is the same, and reverses its operands.
	{name: "rex2-order", set: "rex2", want: `punpckldq`, got: `punpckldq`},
	// 2.47 omits the usual segment.
	{name: "segment", set: "rex2", want: `xlat|(ins|outs)[bwl]?`, got: `xlat|(ins|outs)[bwl]?`},
	// objdump decodes a REX2 prefix before opcodes that do not allow one, or a prefix after it.
	{name: "rex2-reserved", set: "rex2", want: `udb|vmovlpd|ud[01]|fxrstor64|xsaveopt|data16|repz|rex2`, got: "-"},
	// Instructions for kernels, and old ones on vectors whose result has 32 bits even with W.
	{name: "rex2-width", set: "rex2", want: `lretq|retfq|sysretq|lsl|l[fgs]s|jmp|p?movmsk(b|ps|pd)`,
		got: `lret|retf|sysret[ld]|lsl|l[fgs]s|jmp|p?movmsk(b|ps|pd)`},
	// objdump accepts pp, mask bits and memory operands that these instructions do not allow.
	{name: "apx-reserved", set: "map4", want: `ccmp[a-z]+|cmov[a-z]+|push2p?|pop2p?|uwrmsr`, got: "-"},
}

// wholeSets maps a set to another one whose reasons apply to it too, in addition to its own.
var wholeSets = map[string]string{"rex2": "legacy", "map4": "evex", "egpr": "evex"}

// fits reports whether r is the reason for d, given its mnemonics want and got.
func (r opcodeReason) fits(d difference, want, got string) bool {
	if r.set != "" && r.set != d.set && r.set != wholeSets[d.set] || r.only != nil && !r.only(d) {
		return false
	}
	return isWhole(r.want, want) && isWhole(r.got, got)
}

var wholeExprs = map[string]*regexp.Regexp{}

// isWhole reports whether a regular expression matches all of s.
func isWhole(expr, s string) bool {
	if wholeExprs[expr] == nil {
		wholeExprs[expr] = regexp.MustCompile(`^(?:` + expr + `)$`)
	}
	return wholeExprs[expr].MatchString(s)
}

// isBroadcast reports whether EVEX.b is set and an operand is in memory.
func isBroadcast(d difference) bool { return d.code[3]&0x10 != 0 && d.code[5] < 0xc0 }

func isREP(d difference) bool { return d.code[0] == prefixRepe }

func isData16(d difference) bool { return d.code[0] == prefixData }

func isControlMove(d difference) bool {
	i := opcodeAt(d)
	return d.code[i] == 0x0f && len(d.code) > i+1 && d.code[i+1]&^3 == 0x20
}

// opcodeAt returns the position of the opcode, after the prefixes of a legacy instruction.
func opcodeAt(d difference) int {
	i := 0
	for len(d.code) > i+1 && (d.code[i] == prefixData || d.code[i] == prefixRepe) {
		i++
	}
	return i
}
