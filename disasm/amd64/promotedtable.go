package amd64

import "golang.org/x/arch/x86/x86asm"

// promotedIndex has the promotedInsts by opcode map and opcode.
var promotedIndex = func() (index [8][256][]promotedInst) {
	for _, list := range [...][]promotedInst{
		arithmetic(), shifts(), groups(), conditionalMoves(), promotedLegacy, maskMoves(), promotedVEX(),
	} {
		for _, p := range list {
			index[p.mapNo][p.opcode] = append(index[p.mapNo][p.opcode], p)
		}
	}
	return index
}()

// promote returns a promotedInst of map 4 for an operation of x86asm.
func promote(opcode byte, pp ppSet, bits promotedBits, op x86asm.Op, forms ...promotedForm) promotedInst {
	p := promotedInst{mapNo: 4, opcode: opcode, pp: pp, bits: bits, op: op}
	copy(p.operands[:], forms)
	return p
}

// promoteNew returns a promotedInst of a map for an operation that x86asm does not have.
func promoteNew(mapNo, opcode byte, pp ppSet, bits promotedBits, name string, forms ...promotedForm) promotedInst {
	p := promote(opcode, pp, bits, 0, forms...)
	p.mapNo, p.spell = mapNo, &spelling{att: name, intel: name}
	return p
}

// in returns a copy of p in another opcode map.
func (p promotedInst) in(mapNo byte) promotedInst {
	p.mapNo = mapNo
	return p
}

// group returns a copy of p that requires a digit in ModRM.reg.
func (p promotedInst) group(digit byte) promotedInst {
	p.bits, p.digit = p.bits|isGroup, digit
	return p
}

const pushOpcode = 0xff // of push2

// promotedLegacy has the instructions of map 4 that are not in larger groups.
var promotedLegacy = []promotedInst{
	promote(0x24, ppNone66, addsND|mayNF, x86asm.SHLD, formEv, formGv, formIb),
	promote(0xa5, ppNone66, addsND|mayNF, x86asm.SHLD, formEv, formGv, placeCL),
	promote(0x2c, ppNone66, addsND|mayNF, x86asm.SHRD, formEv, formGv, formIb),
	promote(0xad, ppNone66, addsND|mayNF, x86asm.SHRD, formEv, formGv, placeCL),
	promote(0xaf, ppNone66, addsND|mayNF, x86asm.IMUL, formGv, formEv),
	promote(0x69, ppNone66, mayNF, x86asm.IMUL, formGv, formEv, formIv),
	promote(0x6b, ppNone66, mayNF, x86asm.IMUL, formGv, formEv, formIs),
	promoteImulzu(0x69, formIv),
	promoteImulzu(0x6b, formIs),
	promote(0x88, ppNone66, mayNF, x86asm.POPCNT, formGv, formEv),
	promote(0xf4, ppNone66, mayNF, x86asm.TZCNT, formGv, formEv),
	promote(0xf5, ppNone66, mayNF, x86asm.LZCNT, formGv, formEv),
	promote(0x60, ppNone66, memOnly, x86asm.MOVBE, formGv, formEv),
	promote(0x60, ppNone66, regOnly|noMark, x86asm.MOVBE, formGv, formEv),
	promote(0x61, ppNone66, memOnly, x86asm.MOVBE, formEv, formGv),
	promote(0x61, ppNone66, regOnly|noMark, x86asm.MOVBE, formEv, formGv),
	promote(0xf0, ppNone, 0, x86asm.CRC32, formGy, formEb),
	promote(0xf1, ppNone66, 0, x86asm.CRC32, formGy, formEv),

	promoteNew(4, 0x66, pp66, addsND, "adcx", formGy, formEy),
	promoteNew(4, 0x66, ppF3, addsND, "adox", formGy, formEy),
	promoteNew(4, 0x65, pp66, memOnly|needW0, "wrussd", formM, formGy),
	promoteNew(4, 0x65, pp66, memOnly|needW1, "wrussq", formM, formGy),
	promoteNew(4, 0x66, ppNone, memOnly|needW0, "wrssd", formM, formGy),
	promoteNew(4, 0x66, ppNone, memOnly|needW1, "wrssq", formM, formGy),
	promoteNew(4, 0x8a, ppNone, memOnly, "movrs", formGb, formMb),
	promoteNew(4, 0x8b, ppNone66, memOnly, "movrs", formGv, formMv),
	promoteNew(4, 0x8f, ppNone, needND|usesV|regOnly|isPair|needW0, "pop2", formBq, formEq).group(0),
	promoteNew(4, 0x8f, ppNone, needND|usesV|regOnly|isPair|needW1, "pop2p", formBq, formEq).group(0),
	promoteNew(4, pushOpcode, ppNone, needND|usesV|regOnly|isPair|needW0, "push2", formBq, formEq).group(6),
	promoteNew(4, pushOpcode, ppNone, needND|usesV|regOnly|isPair|needW1, "push2p", formBq, formEq).group(6),
	promoteNew(4, 0xf0, ppF3, memOnly, "invept", formGq, formMo),
	promoteNew(4, 0xf1, ppF3, memOnly, "invvpid", formGq, formMo),
	promoteNew(4, 0xf2, ppF3, memOnly, "invpcid", formGq, formM),
	promoteNew(4, 0xf8, pp66, memOnly, "movdir64b", formGa, formM),
	promoteNew(4, 0xf8, ppF2, memOnly, "enqcmd", formGa, formM),
	promoteNew(4, 0xf8, ppF3, memOnly, "enqcmds", formGa, formM),
	promoteNew(4, 0xf8, ppF3, regOnly|needW0, "uwrmsr", formGq, formEq),
	promoteNew(4, 0xf8, ppF2, regOnly|needW0, "urdmsr", formEq, formGq),
	promoteNew(4, 0xf9, ppNone, memOnly, "movdiri", formMy, formGy),
	promoteNew(4, 0xfc, ppNone, memOnly, "aadd", formMy, formGy),
	promoteNew(4, 0xfc, pp66, memOnly, "aand", formMy, formGy),
	promoteNew(4, 0xfc, ppF2, memOnly, "aor", formMy, formGy),
	promoteNew(4, 0xfc, ppF3, memOnly, "axor", formMy, formGy),

	promoteMSR(0xf6, ppF3, "wrmsrns", formId, formEq),
	promoteMSR(0xf6, ppF2, "rdmsr", formEq, formId),
	promoteMSR(0xf8, ppF3, "uwrmsr", formId, formEq),
	promoteMSR(0xf8, ppF2, "urdmsr", formEq, formId),
}

// promoteMSR returns a promotedInst that reads or writes a model-specific register whose number is an immediate.
func promoteMSR(opcode byte, pp ppSet, name string, forms ...promotedForm) promotedInst {
	p := promoteNew(7, opcode, pp, regOnly|noMark|needW0, name, forms...).group(0)
	p.spell.imm = immDword
	return p
}

func promoteImulzu(opcode byte, imm promotedForm) promotedInst {
	p := promoteNew(4, opcode, ppNone66, needND|mayNF, "imulzu", formGv, formEv, imm)
	p.spell.imm = immOperand
	return p
}

// arithmetic returns add, or, adc, sbb, and, sub, xor, ccmp and ctest.
func arithmetic() (all []promotedInst) {
	for i, op := range [...]x86asm.Op{
		x86asm.ADD, x86asm.OR, x86asm.ADC, x86asm.SBB, x86asm.AND, x86asm.SUB, x86asm.XOR, 0,
	} {
		digit := byte(i)
		bits := addsND | mayNF
		switch op {
		case x86asm.ADC, x86asm.SBB:
			bits = addsND
		case 0:
			bits = hasCond
		}
		same := []promotedInst{
			promote(8*digit, ppNone, bits, op, formEb, formGb),
			promote(8*digit+1, ppNone66, bits, op, formEv, formGv),
			promote(8*digit+2, ppNone, bits, op, formGb, formEb),
			promote(8*digit+3, ppNone66, bits, op, formGv, formEv),
			promote(0x80, ppNone, bits, op, formEb, formIb).group(digit),
			promote(0x81, ppNone66, bits, op, formEv, formIv).group(digit),
			promote(0x83, ppNone66, bits, op, formEv, formIs).group(digit),
		}
		for _, p := range same {
			if op == 0 {
				p.conditions = &ccmpSpellings
			}
			all = append(all, p)
		}
	}
	for _, p := range [...]promotedInst{
		promote(0x84, ppNone, hasCond, 0, formEb, formGb),
		promote(0x85, ppNone66, hasCond, 0, formEv, formGv),
		promote(0xf6, ppNone, hasCond, 0, formEb, formIb).group(0),
		promote(0xf6, ppNone, hasCond, 0, formEb, formIb).group(1),
		promote(0xf7, ppNone66, hasCond, 0, formEv, formIv).group(0),
		promote(0xf7, ppNone66, hasCond, 0, formEv, formIv).group(1),
	} {
		p.conditions = &ctestSpellings
		all = append(all, p)
	}
	return all
}

// shifts returns the shifts and rotations by an immediate, by 1 and by %cl.
func shifts() (all []promotedInst) {
	for i, op := range [...]x86asm.Op{
		x86asm.ROL, x86asm.ROR, x86asm.RCL, x86asm.RCR, x86asm.SHL, x86asm.SHR, x86asm.SHL, x86asm.SAR,
	} {
		bits := addsND | mayNF
		if op == x86asm.RCL || op == x86asm.RCR {
			bits = addsND
		}
		for j, count := range [...]promotedForm{formIb, placeOne, placeCL} {
			opcode := [...]byte{0xc0, 0xd0, 0xd2}[j]
			all = append(all,
				promote(opcode, ppNone, bits, op, formEb, count).group(byte(i)),
				promote(opcode+1, ppNone66, bits, op, formEv, count).group(byte(i)))
		}
	}
	return all
}

// groups returns the instructions with one operand.
func groups() (all []promotedInst) {
	for _, g := range [...]struct {
		opcode, digit byte // opcode is that for 8 bits; opcode+1 is for the other widths
		bits          promotedBits
		op            x86asm.Op
	}{
		{0xf6, 2, addsND, x86asm.NOT},
		{0xf6, 3, addsND | mayNF, x86asm.NEG},
		{0xf6, 4, mayNF, x86asm.MUL},
		{0xf6, 5, mayNF, x86asm.IMUL},
		{0xf6, 6, mayNF, x86asm.DIV},
		{0xf6, 7, mayNF, x86asm.IDIV},
		{0xfe, 0, addsND | mayNF, x86asm.INC},
		{0xfe, 1, addsND | mayNF, x86asm.DEC},
	} {
		all = append(all,
			promote(g.opcode, ppNone, g.bits, g.op, formEb).group(g.digit),
			promote(g.opcode+1, ppNone66, g.bits, g.op, formEv).group(g.digit))
	}
	return all
}

// conditionNames are the conditions of jumps, by the low half of their opcode.
var conditionNames = [16]string{
	"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g",
}

// conditionalMoves returns cmov, cfcmov, set, setzu and cmpccxadd for all conditions. In cfcmov, the bit NF has nothing
// to do with flags: if it is set and ND is not, the memory operand is the destination.
func conditionalMoves() (all []promotedInst) {
	for i, cc := range conditionNames {
		opcode := 0x40 + byte(i)
		all = append(all,
			promoteNew(4, opcode, ppNone66, addsND|needND|noMark, "cmov"+cc, formGv, formEv),
			promoteNew(4, opcode, ppNone66, addsND|needND|needNF|noMark, "cfcmov"+cc, formGv, formEv),
			promoteNew(4, opcode, ppNone66, noMark, "cfcmov"+cc, formGv, formEv),
			promoteNew(4, opcode, ppNone66, needNF|noMark, "cfcmov"+cc, formEv, formGv),
			promoteNew(4, opcode, ppF2, 0, "set"+cc, formEb),
			promoteNew(4, opcode, ppF2, needND, "setzu"+cc, formEb),
			promoteNew(2, 0xe0+byte(i), pp66, usesV|memOnly, "cmp"+cc+"xadd", formMy, formGy, formBy))
	}
	return all
}

// maskMoves returns the moves of mask registers.
func maskMoves() (all []promotedInst) {
	for _, k := range [...]struct {
		op          x86asm.Op
		bytes       uint8
		mem, reg    ppSet // mem is for a memory operand, reg is for a general register
		memW, regW  promotedBits
		generalForm promotedForm
		maskForm    promotedForm
	}{
		{x86asm.KMOVB, 1, pp66, pp66, needW0, needW0, formEd, formGd},
		{x86asm.KMOVW, 2, ppNone, ppNone, needW0, needW0, formEd, formGd},
		{x86asm.KMOVD, 4, pp66, ppF2, needW1, needW0, formEd, formGd},
		{x86asm.KMOVQ, 8, ppNone, ppF2, needW1, needW1, formEq, formGq},
	} {
		load := promote(0x90, k.mem, k.memW, k.op, formGk, formEk)
		store := promote(0x91, k.mem, k.memW|memOnly, k.op, formEk, formGk)
		load.bytes, store.bytes = k.bytes, k.bytes
		all = append(all, load.in(1), store.in(1),
			promote(0x92, k.reg, k.regW|regOnly, k.op, formGk, k.generalForm).in(1),
			promote(0x93, k.reg, k.regW|regOnly, k.op, k.maskForm, formEk).in(1))
	}
	return all
}

// promotedVEX returns instructions that also exist with a VEX prefix: bit manipulation, and AMX's loads and stores.
func promotedVEX() []promotedInst {
	return []promotedInst{
		promote(0xf2, ppNone, usesV|mayNF, x86asm.ANDN, formGy, formBy, formEy).in(2),
		promote(0xf3, ppNone, usesV|mayNF, x86asm.BLSR, formBy, formEy).in(2).group(1),
		promote(0xf3, ppNone, usesV|mayNF, x86asm.BLSMSK, formBy, formEy).in(2).group(2),
		promote(0xf3, ppNone, usesV|mayNF, x86asm.BLSI, formBy, formEy).in(2).group(3),
		promote(0xf5, ppNone, usesV|mayNF, x86asm.BZHI, formGy, formEy, formBy).in(2),
		promote(0xf5, ppF3, usesV, x86asm.PEXT, formGy, formBy, formEy).in(2),
		promote(0xf5, ppF2, usesV, x86asm.PDEP, formGy, formBy, formEy).in(2),
		promote(0xf6, ppF2, usesV, x86asm.MULX, formGy, formBy, formEy).in(2),
		promote(0xf7, ppNone, usesV|mayNF, x86asm.BEXTR, formGy, formEy, formBy).in(2),
		promote(0xf7, ppF3, usesV, x86asm.SARX, formGy, formEy, formBy).in(2),
		promote(0xf7, pp66, usesV, x86asm.SHLX, formGy, formEy, formBy).in(2),
		promote(0xf7, ppF2, usesV, x86asm.SHRX, formGy, formEy, formBy).in(2),
		promote(0xf0, ppF2, 0, x86asm.RORX, formGy, formEy, formIb).in(3),

		promoteNew(2, 0x49, ppNone, memOnly|needW0, "ldtilecfg", formM).group(0),
		promoteNew(2, 0x49, pp66, memOnly|needW0, "sttilecfg", formM).group(0),
		promoteNew(2, 0x4b, ppF2, memOnly|needSIB|needW0, "tileloadd", formGt, formM),
		promoteNew(2, 0x4b, pp66, memOnly|needSIB|needW0, "tileloaddt1", formGt, formM),
		promoteNew(2, 0x4b, ppF3, memOnly|needSIB|needW0, "tilestored", formM, formGt),
		promoteNew(2, 0x4a, ppF2, memOnly|needSIB|needW0, "tileloaddrs", formGt, formM),
		promoteNew(2, 0x4a, pp66, memOnly|needSIB|needW0, "tileloaddrst1", formGt, formM),
	}
}

var ccmpSpellings, ctestSpellings = spellConditions("ccmp"), spellConditions("ctest")

// spellConditions returns the spellings of a conditional comparison, by the condition in its prefix. Instead of parity,
// there are the conditions true and false.
func spellConditions(name string) (all [16]spelling) {
	for i, cc := range conditionNames {
		switch cc {
		case "p":
			cc = "t"
		case "np":
			cc = "f"
		}
		all[i] = spelling{att: name + cc, intel: name + cc, suffix: suffixSize, imm: immOperand}
	}
	return all
}

// defaultFlags has the names of the flags that APX's conditional comparisons set if their condition is false. The index
// is the field with these flags in the instruction's prefix.
var defaultFlags = [16]string{
	" {dfv=}", " {dfv=cf}", " {dfv=zf}", " {dfv=zf, cf}",
	" {dfv=sf}", " {dfv=sf, cf}", " {dfv=sf, zf}", " {dfv=sf, zf, cf}",
	" {dfv=of}", " {dfv=of, cf}", " {dfv=of, zf}", " {dfv=of, zf, cf}",
	" {dfv=of, sf}", " {dfv=of, sf, cf}", " {dfv=of, sf, zf}", " {dfv=of, sf, zf, cf}",
}
