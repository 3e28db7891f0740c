package arm64

import "strings"

// Glossary of the operands.
//
// The tables of this package (integer.go and others) spell an instruction as text with operands in angle brackets,
//
//	{0x7f800000, 0x11000000, "add <Rd|SP>, <Rn|SP>, <imm12>"},
//
// This list explains the operands. Each entry has an example. An operand may also refuse an encoding. Then the next row
// whose mask and value match is tried. This is how an alias ("mov") can be listed before the instruction that it stands
// for ("orr"). Some operands write nothing, and exist only to refuse encodings. The fields of register numbers are d
// and t (bits 4 to 0), n (9 to 5), m and s (20 to 16), a and u (14 to 10).
//
// Registers:
//
//	<Xn>            register of class X (see regClasses), its number in field n  br x8
//	<Xn|SP>         the same; number 31 is the stack pointer instead of the zero register  mov sp, x1
//	<d>             the number alone: "v<d>" and "z<d>" write the letter themselves  add v0.4s, v1.4s, v2.4s
//	<Rn=m>          register n of class R; only if m is the same register       ror w16, w29, #31
//	<Rn=m!zr>       the same; and only if it is not the zero register           cinc x20, x30, vs
//
// Immediates and targets (immediates):
//
//	<rel26>         target of a branch, the distance in 26 bits                 b 0x7605154
//	<rel19>         the same in 19 bits                                         b.mi 0x87ec4 // b.first
//	<rel14>         the same in 14 bits                                         tbz x13, #58, 0x9760
//	<adr>           address near the instruction                                adr x23, 0x3bd71
//	<adrp>          address of a page of 4 KB                                   adrp x25, 0xffffffff66a3d000
//	<bit>           number of a bit, from the fields b5 and b40                 tbz x13, #58, 0x9760
//	<udf>           16 bits of an undefined instruction                         udf #42374
//	<nzcv>          condition flags                                             ccmn w27, w22, #0x7, vs
//	<ccimm>         number that is compared, 5 bits                             ccmn x16, #0xa, #0x6, al
//	<exc>           16 bits that an exception handler gets                      svc #0x8064
//	<rmif>          how far rmif rotates                                        rmif x18, #11, #8
//	<rmifmask>      which flags rmif writes                                     rmif x18, #11, #8
//	<imm12>         12 bits, perhaps shifted by 12                              add w0, w19, #0xc93, lsl #12
//	<imm16>         16 bits, perhaps shifted by a multiple of 16                movk w26, #0xea2e, lsl #16
//	<movwide>       value that movz or movn loads, if it is spelled mov         mov x21, #0xffffd9afffffffff // …
//	<bitmask>       immediate of a logical instruction (logicalImmediate)           and x5, x18, #0x1ffffffff0
//	<movbits>       value that orr loads, if it is spelled mov                  mov x18, #0xffe0ffe0ffe0ffe // …
//
// Shifts, extensions, bit fields, conditions (shift.go):
//
//	<shift>         ", lsr #1" after a register, or nothing                     and w23, w29, w12, asr #3
//	<shift3>        the same without ror                                        add x12, x23, x9, lsr #1
//	<extended>      register m, extended and shifted                            add w9, w19, wzr, uxtx #1
//	<extr>          lowest bit that extr takes                                  ror w16, w29, #31
//	<shr>           amount of a shift, if ubfm or sbfm is spelled lsr or asr    asr w13, w24, #18
//	<shl>           amount of a shift, if ubfm is spelled lsl                   lsl x23, x18, #50
//	<bfi>           lowest bit and width, if a field is inserted                sbfiz w13, w9, #8, #13
//	<bfx>           lowest bit and width, if a field is extracted               sbfx x15, x21, #2, #43
//	<cc>            condition of a branch, part of the mnemonic                 b.mi 0x87ec4 // b.first
//	<b.alias>       other names of that condition, as a comment                 b.mi 0x87ec4 // b.first
//	<cond>          condition as an operand, other names as a comment           ccmn w27, w22, #0x7, vs
//	<inverse>       the opposite of the condition in the code                   cset x28, pl // pl = nfrst
//
// Memory (address.go):
//
//	<addr12>        base and offset of 12 bits, in units of the operand         prfm plil1strm, [x11, #2968]
//	<addr9>         base and signed offset of 9 bits, in bytes                  prfum #0x1d, [x11, #77]
//	<addr7>         base and signed offset of 7 bits, in units of a register    stnp w3, w3, [x23, #-104]
//	<simm9>         the offset of <addr9> alone                                 strb w28, [x30], #162
//	<simm7>         the offset of <addr7> alone                                 stp w25, w16, [x10], #-196
//	<addrauth>      base and offset of a load that checks a signature           ldraa x26, [x28, #-2584]
//	<addrreg>       base and index register                                     prfm pstl2keep, [x8, xzr, sxtx]
//	<prfop>         kind of a prefetch, or its number if it has no name         prfm pstl2keep, [x8, xzr, sxtx]
//	<width>         b or h in a mnemonic: 1 or 2 bytes, else nothing            cas w8, w7, [x13]
//	<order>         a, l or al in a mnemonic: acquire, release                  swpal w25, w4, [sp]
//	<pair s>        register s, which must be even, and the next one            casp w6, w7, w20, w21, [x19]
//	<pair t>        register t, which must be even, and the next one            casp w6, w7, w20, w21, [x19]
//
// System (sysops.go):
//
//	<hint>          the whole instruction, if this hint has a name              nop
//	<hintnum>       number of a hint without a name                             hint #0x9
//	<barrier>       which accesses a barrier orders, and for whom               dsb ish
//	<key>           ia, ib, da or db in a mnemonic: key of a signature          pacdb x10, x15
//	<sysreg>        system register                                             msr s2_6_c7_c14_1, x11
//	<op1>           field op1 of a system instruction                           sys #0, C15, C12, #5
//	<op2>           field op2                                                   sys #0, C15, C12, #5
//	<crn>           field CRn                                                   sys #0, C15, C12, #5
//	<crm10>         field CRm, decimal                                          sys #0, C15, C12, #5
//	<crm>           field CRm, hexadecimal                                      clrex #0x2
//
// Floating point (float.go):
//
//	<fbits>         bits after the point of a fixed-point number                scvtf s26, x18, #63
//	<fimm13>        number of 8 bits, from bit 13 on                            fmov d14, #-4.375000…
//	<fimm5>         the same from bit 5 on                                      fmov z13.h, p11/m, #-1.0000…
//	<fimm8>         the same from two parts of the encoding, as <imm8>          fmov v7.4s, #7.000000…
//
// Vectors (vecops.go). How a register is divided depends on the size of its elements, and on the bit Q, which is 1 for
// a whole register and 0 for half of one.
//
//	<B>             8b or 16b                                                   and v15.8b, v22.8b, v27.8b
//	<H>             4h or 8h                                                    movi v6.4h, #0xa6
//	<S>             2s or 4s                                                    movi v14.4s, #0xd8, lsl #24
//	<T>             any size                                                    sshl v9.2d, v13.2d, v28.2d
//	<T3>            b, h or s                                                   shll v10.8h, v3.8b, #8
//	<T12>           h or s                                                      sqdmulh v22.4s, v26.4s, v1.4s
//	<F>             s or d, by bit 22                                           fadd v11.2s, v26.2s, v3.2s
//	<fwide>         the wider operand of a conversion of floats                 fcvtn v4.2s, v16.2d
//	<fnarrow>       the narrower operand of such a conversion                   fcvtn v4.2s, v16.2d
//	<wide>          elements of twice the size, the whole register              shll v10.8h, v3.8b, #8
//	<pairs>         the same, in a register as long as the source               saddlp v7.4h, v14.8b
//	<across>        source of a reduction                                       smaxv b30, v18.16b
//	<pair>          two floats that are added up                                fmaxnmp d29, v12.2d
//	<dup>           size from the lowest bit set of bits 20 to 16 (imm5)        dup v21.8b, v23.b[15]
//	<shiftT>        size from the highest bit set of bits 22 to 19 (immh)       srshr v31.2s, v6.2s, #14
//	<shiftF>        the same, h and more                                        scvtf v23.4h, v19.4h, #14
//	<shiftN>        the same, the narrow side of a shift                        rshrn v25.8b, v4.8h, #2
//	<shiftW>        the same, the wide side                                     rshrn v25.8b, v4.8h, #2
//	<2>             2 in a mnemonic, if the upper half is used                  rshrn v25.8b, v4.8h, #2
//	<n=m>           number n; only if m is the same                             mov v21.8b, v24.8b
//	<no1d>          writes nothing; only if the list is not of 1d               st2 {v13.4s, v14.4s}, [x23]
//	<no B or D>     writes nothing; only if elements have 2 or 4 bytes          sqdmulh s5, s26, s16
//
// Scalars of a vector instruction. Their size depends on the size of the elements:
//
//	<wide d>        twice the size, field d                                     saddlv d27, v10.4s
//	<wide n>        twice the size, field n                                     sqxtn s23, d29
//	<shift d>       size as in <shiftT>, field d                                sqshl d6, d21, #22
//	<shift n>       the same, field n                                           sqshl d6, d21, #22
//	<wideshift n>   twice that size, field n                                    sqshrn h8, s25, #15
//	<fshift d>      size as in <shiftF>, field d                                scvtf s7, s23, #13
//	<fshift n>      the same, field n                                           scvtf s7, s23, #13
//	<elemreg d>     size as in <dup>, field d                                   mov h21, v5.h[6]
//	<general n>     general register as wide as an element as in <dup>          dup v6.8h, w28
//	<smov d>        general register that a signed element fits in              smov x28, v31.b[6]
//	<umov d>        general register that an unsigned element fits in           umov w26, v23.h[1]
//
// Elements, lists, amounts:
//
//	<elem>          element, size and index from imm5                           dup v21.8b, v23.b[15]
//	<elem2>         the source of a move between elements                       mov v1.s[3], v25.s[2]
//	<indexed>       element of register m, h or s                               mul v14.4s, v20.4s, v17.s[2]
//	<findexed>      the same, s or d                                            fmls v0.4s, v21.4s, v30.s[3]
//	<hindexed>      the same, h                                                 fmla v24.4h, v21.4h, v6.h[2]
//	<index s>       index of a group of four bytes                              sdot v16.4s, v22.16b, v4.4b[2]
//	<list1>         one register, t; <list2> to <list4>: 2 to 4 from t on       st1 {v9.4s}, [x1]
//	<laneb1>        one element b of a register; also h, s, d, and 2 to 4       st1 {v14.b}[0], [x29]
//	<post1>         what is added to the base after <list1> …                   st1 {v18.4h}, [x10], x4
//	<postb1>        the same after <laneb1> …                                   st1 {v12.b}[0], [x29], x8
//	<postr1>        the same after a load that repeats an element               ld1r {v20.1d}, [x23], x29
//	<table>         one to four registers from n on                            tbl v19.16b, {v27.16b, v28.16b}, v20.16b
//	<imm8>          8 bits in two parts                                         movi v14.4s, #0xd8, lsl #24
//	<lsl32>         ", lsl #8" to 24, or nothing                                movi v14.4s, #0xd8, lsl #24
//	<lsl16>         ", lsl #8", or nothing                                      movi v6.4h, #0xa6
//	<msl>           8 or 16, a shift that brings in ones                        movi v31.4s, #0x25, msl #8
//	<bytes>         a bit for each byte, 00 or ff                               movi d5, #0xffffffffff00ff00
//	<ext>           first byte that ext takes                                   ext v8.16b, v4.16b, v19.16b, #2
//	<shll>          the size of an element in bits                              shll v10.8h, v3.8b, #8
//	<xar>           how far xar rotates                                         xar v29.2d, v15.2d, v15.2d, #30
//	<right>         amount of a shift to the right                              srshr v31.2s, v6.2s, #14
//	<left>          amount of a shift to the left                               shl v12.4s, v13.4s, #13
//	<longer>        writes nothing; only if the amount of the shift is 0        sxtl v4.4s, v17.4h
//
// SVE (scalable_op.go):
//
//	<e>             letter of the element size in bits 23 and 22                mov z5.h, p1/m, h24
//	<e!b>           the same, not b                                             inch z13.h, vl5, mul #12
//	<e!d>           the same, not d                                             saddv d6, p6, z22.s
//	<e sd>          the same, s or d                                            histcnt z7.d, p5/z, z1.d, z22.d
//	<f>             the same of a float: not b                                  fmov z13.h, p11/m, #-1.0000…
//	<half>          letter of half that size                                    sunpklo z23.h, z13.b
//	<c>             b, h, w or d in the mnemonic of a count                     cntd x18, all, mul #9
//	<e:Rd>          general register as wide as an element, field d             lasta w9, p3, z26.s
//	<e:Rn>          field n                                                     index z5.d, x24, #2
//	<e:Rm>          field m                                                     index z15.h, #3, w9
//	<e:Rn|SP>       field n, 31 is the stack pointer                            mov z2.h, p2/m, w0
//	<w:Rn>          general register as wide as bit 12 says, field n            whilelt p3.d, w3, w11
//	<w:Rm>          the same, field m                                           whilelt p3.d, w3, w11
//	<Xm!31>         register x of field m, not 31                               ld1b {z21.b}, p7/z, [x13, x5]
//	<g>             governing predicate, 3 bits                                 mov z5.h, p1/m, h24
//	<g4>            the same, 4 bits                                            mov z15.s, p14/m, z31.s
//	<pd>            predicate, bits 3 to 0                                      ldr p10, [x7, #-12, mul vl]
//	<pn>            predicate, bits 8 to 5                                      incp x24, p5.d
//	<pm>            predicate, bits 19 to 16                                    and p5.b, p5/z, p2.b, p14.b
//	<pg>            predicate, bits 13 to 10                                    cntp x8, p2, p9.s
//	<pg4>           predicate, bits 19 to 16, of a move                         mov z5.s, p14/z, #-20736
//	<pn=pm>         pn; only if pm is the same one                              mov p7.b, p2/z, p13.b
//	<pg=pm>         pg; only if pm is the same one                              not p1.b, p4/z, p1.b
//	<pg=pn=pm>      pn; only if all three are the same one                      mov p14.b, p8.b
//	<pd=pm>         writes nothing; only if pd and pm are the same              mov p4.b, p4/m, p1.b
//	<d=m>           writes nothing; only if d and m are the same                mov z15.s, p14/m, z31.s
//	<n+1>           the number after that of register n                          tbl z22.h, {z11.h, z12.h}, z22.h
//	<vladdr9>       base and signed offset of 9 bits, in vectors                ldr z6, [x20, #89, mul vl]
//	<vladdr4>       the same in 4 bits                                          ld1b {z29.b}, p4/z, [x10, #-6, mul vl]
//	<xs22>          uxtw or sxtw by bit 22                                      ld1w {z16.s}, p6/z, [x7, z2.s, uxtw]
//	<xs14>          the same by bit 14                                          st1w {z2.s}, p0, [x19, z24.s, uxtw]
//	<pattern>       how many elements, or nothing for all                       ptrue p3.b, vl64
//	<count>         the same, times a number                                    cntd x18, all, mul #9
//	<simm5 n>       signed, 5 bits in field n                                   index z17.h, #1, #-7
//	<simm5 m>       the same in field m                                         index z17.h, #1, #-7
//	<simm6>         signed, 6 bits                                              addvl x1, x17, #17
//	<uimm7>         unsigned, 7 bits                                            cmphs p12.b, p3/z, z1.b, #28
//	<ext8>          first byte that ext takes                                   ext z21.b, z21.b, z18.b, #167
//	<simm8>         signed, 8 bits, perhaps shifted by 8                        mov z1.d, #37
//	<uimm8>         the same, unsigned                                          uqsub z3.d, z3.d, #121
//	<simm8 plain>   signed, 8 bits, never shifted                               smax z29.s, z29.s, #-6
//	<uimm8 plain>   the same, unsigned                                          umax z5.d, z5.d, #243
//	<tsz>           letter of the element size, from the highest bit of tsz     lsr z18.d, z0.d, #8
//	<tszg>          the same of a shift with predicate                          asr z27.d, p2/m, z27.d, #26
//	<sveright>      amount of a shift to the right, from tsz and imm3           lsr z18.d, z0.d, #8
//	<sverightg>     the same of a shift with predicate                          asr z27.d, p2/m, z27.d, #26
//	<sveleft>       amount of a shift to the left                               lsl z20.d, z18.d, #24
//	<sveleftg>      the same of a shift with predicate                          lsl z13.b, p7/m, z13.b, #1
//	<broadcast>     size, and the element that is repeated                      mov z11.b, z10.b[9]
//	<bits e>        size of the elements of <bits>                              orr z2.s, z2.s, #0x200000
//	<bits>          size, and immediate of a logical instruction                orr z2.s, z2.s, #0x200000
//	<not dup>       writes nothing; only if no other mov can do it              mov z21.d, #0xfffffe00000000ff

// operandNamed returns the operand that has the given name in the glossary. Most names are keys in one of the
// operandMaps. All other names are those of registers. Such a name is the letter of a field with a register number
// ("d"), or the letter of a register class followed by that of a field ("Xn"). The second form may end in "|SP"
// ("Xn|SP").
func operandNamed(name string) operand {
	for _, ops := range operandMaps {
		if op := ops[name]; op != nil {
			return op
		}
	}
	if at, ok := fieldAt[name]; ok {
		return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
			return appendInt(b, int(x>>at&31)), true
		}
	}
	plain, sp := strings.CutSuffix(name, "|SP")
	if at, ok := fieldAt[plain[1:]]; ok && len(plain) == 2 && strings.Contains(regClasses, plain[:1]) {
		class := plain[0]
		return func(b []byte, x uint32, _ uint64) ([]byte, bool) {
			return appendReg(b, class, x, x>>at&31, sp)
		}
	}
	panic("arm64: no operand <" + name + ">") // a mistake in a table: every test finds it
}

// operandMaps are the maps of operands by name.
var operandMaps = []map[string]operand{
	immediates, shifts, conditions, addresses,
	systemOps, floatOps, vectorOps, scalableOps,
}

// fieldAt says where in the encoding the fields with register numbers are. The value is the lowest bit of the field.
var fieldAt = map[string]int{"d": 0, "t": 0, "n": 5, "m": 16, "s": 16, "a": 10, "u": 10}

// regClasses are the classes of registers:
//
//	W X          general registers of 32 and 64 bits            w0 x0
//	B H S D Q    lowest 8 to 128 bits of a vector register      b0 h0 s0 d0 q0
//	R            W or X, as bit 31 says                         add
//	Y            W, or X if bits 31 and 30 are both set         ldxr
//	F            S, D or H, as bits 23 and 22 say               fadd
//	E            B, H, S or D, as bits 23 and 22 say            sqadd
//	G            S or D, as bit 22 says                         faddp
const regClasses = "WXBHSDQRYFEG"

func appendReg(b []byte, class byte, x, number uint32, sp bool) ([]byte, bool) {
	switch class {
	case 'R':
		class = "WX"[x>>31]
	case 'Y':
		class = "WWWX"[x>>30]
	case 'F':
		class = "SD H"[x>>22&3]
	case 'E':
		class = "BHSD"[x>>22&3]
	case 'G':
		class = "SD"[x>>22&1]
	}
	lower := class | ' '
	switch {
	case class == ' ':
		return b, false
	case class != 'W' && class != 'X' || number != 31:
		return appendInt(append(b, lower), int(number)), true
	case sp && class == 'W':
		return append(b, "wsp"...), true
	case sp:
		return append(b, "sp"...), true
	}
	return append(b, lower, 'z', 'r'), true
}
