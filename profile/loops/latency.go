package loops

import "strings"

// A model is a group of processors that have the same latencies in the table.
type model int

const (
	// The model usual includes Zen to Zen 4, and Skylake to Ice Lake, with the server versions of all these.
	usual model = iota
	// The model newest includes Zen 5, Golden Cove (Alder Lake, Sapphire Rapids) and later processors. They add
	// floating-point numbers in 2 cycles, and some small constants in 0 cycles.
	newest
	models
)

// Latencies of loads that hit the L1 cache, from the address to the result, in cycles. They are added to the time of a
// chain that contains loads, and are the same for both models.
const (
	loadLatency       = 4 // into a general register
	vectorLoadLatency = 5
)

// A form says which operands an instruction reads and writes. Operands are in the order of AT&T's syntax.
type form int8

const (
	ignored  form = iota // no effect on registers: nops, jumps, prefetches
	compare              // writes the flags from all operands
	combine              // the last operand becomes a function of all operands
	convert              // the last operand becomes a function of the first one that is not an immediate
	move                 // like convert, but takes no cycles between registers of the same kind
	accum                // like combine, but also reads the last operand if there are three: vfmadd231sd
	address              // lea
	clear                // the last operand gets a value that depends on no register, or on one that is not known
	clearAll             // like clear, for all register operands
	product              // mul, and imul with one operand: rdx:rax
	quotient             // div and idiv: rdx:rax
	signRDX              // cqto and cltd: rdx from rax
	signRAX              // cltq: rax from rax
	pushed               // push
	popped               // pop
	wide                 // mulx: the last two operands
)

// A flagUse says which flags an instruction reads and writes.
type flagUse int8

const (
	readsCarry flagUse = 1 << iota
	readsFlags
	writesCarry
	writesFlags
	clearsFlags // writes some of the flags other than the carry, or leaves them undefined
	clearsCarry
	writesBoth = writesCarry | writesFlags
)

// A unit is a kind of execution unit. A processor has only a few units of each kind.
type unit int8

const (
	anyUnit   unit = iota // any ALU of general registers, or no special unit
	vectorAny             // any of the vector units
	floatAdd
	floatMultiply
	intMultiply
	divider
)

// An operation is the entry of an instruction in the table.
type operation struct {
	form    form
	latency [models]int8 // cycles from an input to the result, for each model: the lowest of its processors
	flags   flagUse
	unit    unit
	busy    int8 // cycles for which the divider is busy
}

// operations is the table of instructions. Its keys are mnemonics, without the v of AVX and without a suffix of AT&T's
// for the size.
var operations = tabulate()

// tabulate returns the table. Latencies are from the manuals of AMD and Intel and from published measurements. If an
// instruction has different latencies for its inputs, or a fast case, the table has the lowest.
func tabulate() map[string]operation {
	t := map[string]operation{}
	add := func(names string, o operation) {
		for name := range strings.FieldsSeq(names) {
			t[name] = o
		}
	}
	same := func(n int8) [models]int8 { return [models]int8{n, n} }
	integer := func(names string, f form, latency int8, flags flagUse) {
		add(names, operation{form: f, latency: same(latency), flags: flags})
	}
	vector := func(names string, f form, latency int8) {
		add(names, operation{form: f, latency: same(latency), unit: vectorAny})
	}

	integer("nop nopw nopl endbr64 pause prefetcht0 prefetcht1 prefetcht2 prefetchnta prefetchw lfence mfence sfence jmp vzeroupper", ignored, 0, 0)
	integer("cmp test", compare, 1, writesBoth)
	integer("add sub and or xor", combine, 1, writesBoth)
	integer("adc sbb", combine, 1, writesBoth|readsCarry)
	integer("adcx", combine, 1, readsCarry|writesCarry)
	integer("adox", combine, 1, clearsFlags)
	integer("inc dec", combine, 1, writesFlags)
	integer("neg", combine, 1, writesBoth)
	integer("not bswap", combine, 1, 0)
	integer("shl sal shr sar shld shrd", combine, 1, writesBoth)
	integer("rol ror", combine, 1, writesCarry|clearsFlags)
	integer("rcl rcr", combine, 1, readsCarry|writesCarry|clearsFlags)
	integer("shlx shrx sarx rorx", combine, 1, 0)
	integer("bt", compare, 1, writesCarry|clearsFlags)
	integer("bts btr btc", combine, 1, writesCarry|clearsFlags)
	integer("andn blsr blsi blsmsk bextr bzhi", combine, 1, writesBoth)
	integer("bsf bsr tzcnt lzcnt popcnt", convert, 1, writesBoth)
	integer("pdep pext crc32", combine, 3, 0)
	integer("mov movabs", move, 0, 0)
	integer("movzx movzb movzw", convert, 0, 0)
	add("movsx movsxd movsb movsw movsl", operation{form: convert, latency: [models]int8{1, 0}})
	integer("movbe", clear, 0, 0)
	integer("lea", address, 1, 0)
	integer("cwtl cltq cwde cdqe cbtw cbw", signRAX, 1, 0)
	integer("cltd cqto cdq cqo cwtd cwd", signRDX, 1, 0)
	integer("push", pushed, 0, 0)
	integer("pop", popped, 0, 0)
	integer("xchg xadd cmpxchg", clearAll, 0, clearsFlags|clearsCarry)
	add("imul", operation{form: combine, latency: same(3), flags: writesBoth, unit: intMultiply})
	add("mul", operation{form: product, latency: same(3), flags: writesBoth, unit: intMultiply})
	add("mulx", operation{form: wide, latency: same(3), unit: intMultiply})
	add("div idiv", operation{form: quotient, latency: same(7), flags: clearsFlags | clearsCarry, unit: divider, busy: 4})
	conditions(t)

	vector("movdqa movdqu movaps movups movapd movupd movdqa32 movdqa64 movdqu8 movdqu16 movdqu32 movdqu64 lddqu movntdq movntdqa movntps movntpd", move, 0)
	vector("movd movq movsd movss", move, 0)
	vector("movhps movlps movhpd movlpd movlhps movhlps", combine, 1)
	vector("paddb paddw paddd paddq psubb psubw psubd psubq pand pandn por pxor pandd pandq pandnd pandnq pord porq pxord pxorq", combine, 1)
	vector("andps andpd andnps andnpd orps orpd xorps xorpd", combine, 1)
	vector("pcmpeqb pcmpeqw pcmpeqd pcmpeqq pcmpgtb pcmpgtw pcmpgtd pcmpgtq cmpps cmppd cmpss cmpsd", combine, 1)
	vector("pcmpb pcmpub pcmpw pcmpuw pcmpd pcmpud pcmpq pcmpuq", combine, 1)
	vector("pminub pminuw pminud pminuq pminsb pminsw pminsd pminsq pmaxub pmaxuw pmaxud pmaxuq pmaxsb pmaxsw pmaxsd pmaxsq", combine, 1)
	vector("minps minpd minss minsd maxps maxpd maxss maxsd pavgb pavgw", combine, 1)
	vector("psllw pslld psllq psrlw psrld psrlq psraw psrad psraq psllvd psllvq psrlvd psrlvq psravd psravq pslldq psrldq",
		combine, 1)
	vector("pshufb punpcklbw punpcklwd punpckldq punpcklqdq punpckhbw punpckhwd punpckhdq punpckhqdq unpcklps unpcklpd unpckhps unpckhpd", combine, 1)
	vector("shufps shufpd palignr alignr pblendw pblendd pblendvb blendps blendpd blendvps blendvpd packsswb packssdw packuswb packusdw", combine, 1)
	vector("insertps pinsrb pinsrw pinsrd pinsrq inserti128 insertf128 inserti32x4 inserti64x4 perm2i128 perm2f128 permd permps", combine, 1)
	vector("pternlogd pternlogq permt2b permt2w permt2d permt2q permt2ps permt2pd permi2b permi2w permi2d permi2q permi2ps permi2pd", accum, 1)
	vector("pshldvw pshldvd pshldvq pshrdvw pshrdvd pshrdvq", accum, 1)
	vector("prold prolq prord prorq prolvd prolvq prorvd prorvq psubusb psubusw paddusb paddusw psubsb psubsw paddsb paddsw", combine, 1)
	vector("alignd alignq shufi32x4 shufi64x2 shuff32x4 shuff64x2 permb permw", combine, 1)
	comparisons(vector)
	vector("pshufd pshuflw pshufhw movddup movshdup movsldup pabsb pabsw pabsd pabsq permq permpd permilps permilpd",
		convert, 1)
	vector("pbroadcastb pbroadcastw pbroadcastd pbroadcastq broadcastss broadcastsd broadcasti128 broadcastf128",
		convert, 1)
	vector("extracti128 extractf128 extracti32x4 extracti64x4 extractf64x4 pextrb pextrw pextrd pextrq extractps",
		convert, 1)
	vector("pmovzxbw pmovzxbd pmovzxbq pmovzxwd pmovzxwq pmovzxdq pmovsxbw pmovsxbd pmovsxbq pmovsxwd pmovsxwq pmovsxdq",
		convert, 1)
	vector("pmovmskb movmskps movmskpd", convert, 1)
	vector("pmullw pmulhw pmulhuw pmulhrsw pmulld pmullq pmuludq pmuldq pmaddwd pmaddubsw psadbw phaddw phaddd haddps haddpd", combine, 3)
	vector("cvtsi2sd cvtsi2ss cvtsd2si cvtss2si cvttsd2si cvttss2si cvtss2sd cvtsd2ss cvtdq2ps cvtdq2pd cvtps2pd cvtpd2ps cvttps2dq cvttpd2dq", convert, 3)
	vector("roundsd roundss roundpd roundps rndscalesd rndscaless rndscalepd rndscaleps rcpps rcpss rsqrtps rsqrtss",
		convert, 3)
	vector("aesenc aesenclast aesdec aesdeclast pclmulqdq pclmullqlqdq pclmulhqlqdq pclmullqhqdq pclmulhqhqdq", combine, 3)
	vector("pmadd52luq pmadd52huq", accum, 4)
	vector("sha256rnds2 sha1rnds4", combine, 4)
	vector("sha256msg1 sha256msg2 sha1msg1 sha1msg2 sha1nexte", combine, 1)
	vector("pgatherdd pgatherdq pgatherqd pgatherqq gatherdps gatherdpd gatherqps gatherqpd", clearAll, 0)
	add("ptest testps testpd ucomisd ucomiss comisd comiss",
		operation{form: compare, latency: same(1), flags: writesBoth, unit: vectorAny})
	add("addsd addss addpd addps subsd subss subpd subps addsubpd addsubps",
		operation{form: combine, latency: [models]int8{3, 2}, unit: floatAdd})
	add("mulsd mulss mulpd mulps", operation{form: combine, latency: same(3), unit: floatMultiply})
	add("divsd divss divpd divps", operation{form: combine, latency: same(8), unit: divider, busy: 3})
	add("sqrtsd sqrtpd", operation{form: convert, latency: same(13), unit: divider, busy: 4})
	add("sqrtss sqrtps", operation{form: convert, latency: same(12), unit: divider, busy: 3})
	fused := operation{form: accum, latency: same(4), unit: floatMultiply}
	for _, name := range []string{"fmadd", "fmsub", "fnmadd", "fnmsub"} {
		for _, order := range []string{"132", "213", "231"} {
			for _, width := range []string{"sd", "ss", "pd", "ps"} {
				t[name+order+width] = fused
			}
		}
	}
	vector("kmovb kmovw kmovd kmovq", move, 0)
	vector("kandb kandw kandd kandq korb korw kord korq kxorb kxorw kxord kxorq knotb knotw knotd knotq kunpckbw kunpckwd kunpckdq", combine, 1)
	add("kortestb kortestw kortestd kortestq ktestb ktestw ktestd ktestq",
		operation{form: compare, latency: same(1), flags: writesBoth, unit: vectorAny})
	return t
}

// comparisons adds the comparisons of vectors whose condition is in their name: vpcmpltuq, cmpleps.
func comparisons(add func(names string, f form, latency int8)) {
	for cc := range strings.FieldsSeq("eq lt le neq nlt nle") {
		for kind := range strings.FieldsSeq("b w d q ub uw ud uq") {
			add("pcmp"+cc+kind, combine, 1)
		}
		for kind := range strings.FieldsSeq("ps pd ss sd") {
			add("cmp"+cc+kind, combine, 1)
		}
	}
}

// conditions adds the instructions that have a condition: jumps, cmov and set. No chain goes through a jump, because
// jumps are predicted.
func conditions(t map[string]operation) {
	for suffixes, reads := range map[string]flagUse{
		"b c nae ae nb nc": readsCarry,
		"a nbe be na":      readsCarry | readsFlags,
		"e z ne nz s ns p pe np po o no l nge ge nl le ng g nle": readsFlags,
	} {
		for cc := range strings.FieldsSeq(suffixes) {
			t["j"+cc] = operation{form: ignored}
			t["cmov"+cc] = operation{form: combine, latency: [models]int8{1, 1}, flags: reads}
			t["set"+cc] = operation{form: clear, latency: [models]int8{1, 1}, flags: reads}
		}
	}
}

// lookUp finds the table's entry for an instruction. It sets name to the mnemonic in the table, and vex if the
// instruction is one of AVX, which may have an additional operand.
func (in *inst) lookUp() {
	in.name = in.mnemonic
	if in.operation, in.known = operations[in.mnemonic]; in.known {
		return
	}
	if plain, is := strings.CutPrefix(in.mnemonic, "v"); is {
		if o, ok := operations[plain]; ok && o.vector() {
			in.name, in.operation, in.vex, in.known = plain, o, true, true
		}
		return
	}
	if n := len(in.mnemonic) - 1; n >= 2 && strings.IndexByte("bwlq", in.mnemonic[n]) >= 0 {
		if o, ok := operations[in.mnemonic[:n]]; ok && !o.vector() {
			in.name, in.operation, in.known = in.mnemonic[:n], o, true
		}
	}
}

// vector reports whether an operation works on vector registers.
func (o *operation) vector() bool {
	return o.unit != anyUnit && o.unit != intMultiply && o.form != quotient
}
