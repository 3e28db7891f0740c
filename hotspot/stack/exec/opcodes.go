package exec

// A form says what follows an opcode, and what the instruction writes.
type form uint32

const (
	modRM   form = 1 << iota
	imm8         // one byte
	imm16        // two bytes
	imm32        // four bytes, or two after a 66 prefix
	imm64        // as imm32, but eight bytes with REX.W
	immAddr      // an address: eight bytes, or four after a 67 prefix

	byteSized // the operands have one byte
	writesReg // writes the general register in ModRM's field reg
	writesRM  // writes the general register or the memory that ModRM.rm refers to
	storesRM  // writes ModRM.rm if that is memory; if it is a register, it is not a general one
	writesStrings
	invalid

	writesShift      = 16
	writesA     form = 1 << (writesShift + rax)
	writesC     form = 1 << (writesShift + rcx)
	writesD     form = 1 << (writesShift + rdx)
	writesB     form = 1 << (writesShift + rbx)
)

// A span is a range of opcodes that have the same form.
type span struct {
	first, last byte
	form
}

// formsOf makes a table from spans. All opcodes that are in no span get the form in the parameter rest.
func formsOf(rest form, spans []span) *[256]form {
	t := new([256]form)
	for i := range t {
		t[i] = rest
	}
	for _, s := range spans {
		for b := int(s.first); b <= int(s.last); b++ {
			t[b] = s.form
		}
	}
	return t
}

// oneByte has the forms of the opcodes of one byte. Prefixes are not in it.
var oneByte = formsOf(0, append(arithmetic(), []span{
	{0x06, 0x07, invalid}, {0x0e, 0x0e, invalid}, {0x16, 0x17, invalid}, {0x1e, 0x1f, invalid}, {0x27, 0x27, invalid},
	{0x2f, 0x2f, invalid}, {0x37, 0x37, invalid}, {0x3f, 0x3f, invalid},
	{0x60, 0x61, invalid},
	{0x63, 0x63, modRM | writesReg}, // movsxd
	{0x68, 0x68, imm32},             // push
	{0x69, 0x69, modRM | imm32 | writesReg},
	{0x6a, 0x6a, imm8}, // push
	{0x6b, 0x6b, modRM | imm8 | writesReg},
	{0x6c, 0x6f, writesStrings | writesC},
	{0x70, 0x7f, imm8},                                     // jcc
	{0x80, 0x80, modRM | imm8 | byteSized | writesRM},      // add … cmp
	{0x81, 0x81, modRM | imm32 | writesRM},                 //
	{0x82, 0x82, invalid},                                  //
	{0x83, 0x83, modRM | imm8 | writesRM},                  //
	{0x84, 0x84, modRM | byteSized},                        // test
	{0x85, 0x85, modRM},                                    //
	{0x86, 0x86, modRM | byteSized | writesRM | writesReg}, // xchg
	{0x87, 0x87, modRM | writesRM | writesReg},             //
	{0x88, 0x88, modRM | byteSized | writesRM},             // mov
	{0x89, 0x89, modRM | writesRM},                         //
	{0x8a, 0x8a, modRM | byteSized | writesReg},            //
	{0x8b, 0x8b, modRM | writesReg},                        //
	{0x8c, 0x8c, modRM | writesRM},                         // mov from a segment register
	{0x8d, 0x8d, modRM | writesReg},                        // lea
	{0x8e, 0x8e, modRM},                                    //
	{0x8f, 0x8f, modRM | writesRM},                         // pop
	{0x98, 0x98, writesA},                                  // cdqe
	{0x99, 0x99, writesD},                                  // cqo
	{0x9a, 0x9a, invalid},                                  //
	{0x9f, 0x9f, writesA},                                  // lahf
	{0xa0, 0xa1, immAddr | writesA},                        // mov from an absolute address
	{0xa2, 0xa3, immAddr},                                  //
	{0xa4, 0xa7, writesStrings | writesC},                  // movs, cmps
	{0xa8, 0xa8, imm8},                                     // test
	{0xa9, 0xa9, imm32},                                    //
	{0xaa, 0xab, writesStrings | writesC},                  // stos
	{0xac, 0xaf, writesStrings | writesC | writesA},        // lods, scas
	{0xb0, 0xb7, imm8},                                     // mov
	{0xb8, 0xbf, imm64},                                    //
	{0xc0, 0xc0, modRM | imm8 | byteSized | writesRM},      // shifts
	{0xc1, 0xc1, modRM | imm8 | writesRM},                  //
	{0xc2, 0xc2, imm16},                                    // ret
	{0xc6, 0xc6, modRM | imm8 | byteSized | writesRM},      // mov
	{0xc7, 0xc7, modRM | imm32 | writesRM},                 //
	{0xc8, 0xc8, imm16 | imm8},                             // enter
	{0xca, 0xca, imm16},                                    // far ret
	{0xcd, 0xcd, imm8},                                     // int
	{0xce, 0xce, invalid},                                  //
	{0xd0, 0xd0, modRM | byteSized | writesRM},             // shifts
	{0xd1, 0xd1, modRM | writesRM},                         //
	{0xd2, 0xd2, modRM | byteSized | writesRM},             //
	{0xd3, 0xd3, modRM | writesRM},                         //
	{0xd4, 0xd6, invalid},                                  //
	{0xd7, 0xd7, writesA},                                  // xlat
	{0xd8, 0xde, modRM | storesRM},                         // x87
	{0xdf, 0xdf, modRM | storesRM | writesA},               // x87 with fnstsw ax
	{0xe0, 0xe3, imm8 | writesC},                           // loop, jrcxz
	{0xe4, 0xe5, imm8 | writesA},                           // in
	{0xe6, 0xe7, imm8},                                     // out
	{0xe8, 0xe9, imm32},                                    // call, jmp
	{0xea, 0xea, invalid},                                  //
	{0xeb, 0xeb, imm8},                                     // jmp
	{0xec, 0xed, writesA},                                  // in
	{0xf6, 0xf6, modRM | byteSized},                        // test, not, neg, mul, div
	{0xf7, 0xf7, modRM},                                    //
	{0xfe, 0xfe, modRM | byteSized | writesRM},             // inc, dec
	{0xff, 0xff, modRM},                                    // inc, dec, call, jmp, push
}...))

// arithmetic returns the forms of add, or, adc, sbb, and, sub, xor and cmp. Of these, cmp writes nothing.
func arithmetic() (spans []span) {
	for b := byte(0); b < 0x40; b += 8 {
		rm, to, a := writesRM, writesReg, writesA
		if b == 0x38 {
			rm, to, a = 0, 0, 0
		}
		spans = append(spans, span{b, b, modRM | byteSized | rm}, span{b + 1, b + 1, modRM | rm},
			span{b + 2, b + 2, modRM | byteSized | to}, span{b + 3, b + 3, modRM | to},
			span{b + 4, b + 4, imm8 | a}, span{b + 5, b + 5, imm32 | a})
	}
	return spans
}

// twoByte has the forms of the opcodes after 0F.
var twoByte = formsOf(modRM, []span{
	{0x00, 0x00, modRM | writesRM},                               // sldt, str
	{0x01, 0x01, modRM | writesRM | writesA | writesC | writesD}, // smsw, rdtscp, xgetbv
	{0x02, 0x03, modRM | writesReg},
	{0x04, 0x04, invalid},
	{0x05, 0x09, writesA | writesC},
	{0x0a, 0x0a, invalid},
	{0x0b, 0x0b, 0},
	{0x0c, 0x0c, invalid},
	{0x0e, 0x0e, 0},
	{0x0f, 0x0f, modRM | imm8},                             // 3DNow
	{0x11, 0x11, modRM | storesRM},                         // mov of vectors
	{0x13, 0x13, modRM | storesRM},                         //
	{0x17, 0x17, modRM | storesRM},                         //
	{0x1e, 0x1e, modRM | writesRM},                         // rdssp
	{0x20, 0x21, modRM | writesRM},                         // mov from control registers
	{0x24, 0x27, invalid},                                  //
	{0x29, 0x29, modRM | storesRM},                         //
	{0x2b, 0x2b, modRM | storesRM},                         //
	{0x2c, 0x2d, modRM | writesReg},                        // cvttss2si
	{0x30, 0x35, writesA | writesD | writesC},              // rdtsc, rdmsr
	{0x36, 0x36, invalid},                                  //
	{0x37, 0x37, writesA | writesB | writesC},              // getsec
	{0x39, 0x39, invalid},                                  //
	{0x3b, 0x3f, invalid},                                  //
	{0x40, 0x4f, modRM | writesReg},                        // cmov
	{0x50, 0x50, modRM | writesReg},                        // movmskps
	{0x70, 0x73, modRM | imm8},                             // pshufd, shifts
	{0x77, 0x77, 0},                                        // emms
	{0x78, 0x78, modRM | writesRM},                         // vmread
	{0x7e, 0x7e, modRM | writesRM},                         // movd
	{0x7f, 0x7f, modRM | storesRM},                         //
	{0x80, 0x8f, imm32},                                    // jcc
	{0x90, 0x9f, modRM | byteSized | writesRM},             // setcc
	{0xa0, 0xa1, 0},                                        // push, pop of a segment register
	{0xa2, 0xa2, writesA | writesB | writesC | writesD},    // cpuid
	{0xa4, 0xa4, modRM | imm8 | writesRM},                  // shld
	{0xa5, 0xa5, modRM | writesRM},                         //
	{0xa6, 0xa7, modRM},                                    //
	{0xa8, 0xaa, 0},                                        //
	{0xab, 0xab, modRM | writesRM},                         // bts
	{0xac, 0xac, modRM | imm8 | writesRM},                  // shrd
	{0xad, 0xad, modRM | writesRM},                         //
	{0xae, 0xae, modRM | writesRM},                         // fxsave, rdfsbase
	{0xaf, 0xaf, modRM | writesReg},                        // imul
	{0xb0, 0xb0, modRM | byteSized | writesRM | writesA},   // cmpxchg
	{0xb1, 0xb1, modRM | writesRM | writesA},               //
	{0xb2, 0xb2, modRM | writesReg},                        //
	{0xb3, 0xb3, modRM | writesRM},                         // btr
	{0xb4, 0xb8, modRM | writesReg},                        // movzx, popcnt
	{0xba, 0xba, modRM | imm8 | writesRM},                  // bts, btr, btc with an immediate
	{0xbb, 0xbb, modRM | writesRM},                         // btc
	{0xbc, 0xbf, modRM | writesReg},                        // bsf, movsx
	{0xc0, 0xc0, modRM | byteSized | writesRM | writesReg}, // xadd
	{0xc1, 0xc1, modRM | writesRM | writesReg},             //
	{0xc2, 0xc2, modRM | imm8},                             // cmpps
	{0xc3, 0xc3, modRM | storesRM},                         // movnti
	{0xc4, 0xc4, modRM | imm8},                             // pinsrw
	{0xc5, 0xc5, modRM | imm8 | writesReg},                 // pextrw
	{0xc6, 0xc6, modRM | imm8},                             // shufps
	{0xc7, 0xc7, modRM | writesRM | writesA | writesD},     // cmpxchg8b, rdrand
	{0xc8, 0xcf, 0},                                        // bswap
	{0xd6, 0xd6, modRM | storesRM},                         // movq
	{0xd7, 0xd7, modRM | writesReg},                        // pmovmskb
	{0xe7, 0xe7, modRM | storesRM},                         // movntdq
})

// threeByte has the forms of the opcodes after 0F 38.
var threeByte = formsOf(modRM, []span{
	{0xf0, 0xf1, modRM | writesReg | storesRM}, // movbe, crc32
	{0xf6, 0xf6, modRM | writesReg | storesRM}, // adcx, adox, wrss
	{0xf9, 0xf9, modRM | storesRM},             // movdiri
})

// threeByteImm has the forms of the opcodes after 0F 3A.
var threeByteImm = formsOf(modRM|imm8, []span{
	{0x14, 0x17, modRM | imm8 | writesRM}, // pextr
	{0x61, 0x61, modRM | imm8 | writesC},  // pcmpestri
	{0x63, 0x63, modRM | imm8 | writesC},  // pcmpistri
})

// vectorMaps have the forms of the opcodes after a VEX or EVEX prefix, by the number of the opcode map. Most opcodes
// have the form that is the first argument of formsOf. Those in the list have another operand, or write a general
// register or memory.
var vectorMaps = [8]*[256]form{
	1: formsOf(modRM, []span{
		{0x11, 0x11, modRM | storesRM}, {0x13, 0x13, modRM | storesRM}, {0x17, 0x17, modRM | storesRM},
		{0x29, 0x29, modRM | storesRM}, {0x2b, 0x2b, modRM | storesRM}, {0x2c, 0x2d, modRM | writesReg},
		{0x50, 0x50, modRM | writesReg}, {0x70, 0x73, modRM | imm8}, {0x77, 0x77, 0}, {0x78, 0x79, modRM | writesReg},
		{0x7e, 0x7e, modRM | writesRM}, {0x7f, 0x7f, modRM | storesRM},
		{0x91, 0x91, modRM | storesRM}, {0x93, 0x93, modRM | writesReg}, // kmov
		{0xc2, 0xc2, modRM | imm8}, {0xc4, 0xc4, modRM | imm8}, {0xc5, 0xc5, modRM | imm8 | writesReg},
		{0xc6, 0xc6, modRM | imm8}, {0xd6, 0xd6, modRM | storesRM}, {0xd7, 0xd7, modRM | writesReg},
		{0xe7, 0xe7, modRM | storesRM},
	}),
	2: formsOf(modRM, []span{
		{0x2e, 0x2f, modRM | storesRM}, {0x8e, 0x8e, modRM | storesRM}, // masked stores
		{0xe0, 0xef, modRM | writesReg | storesRM},                       // cmpccxadd
		{0xf2, 0xf2, modRM | writesReg}, {0xf5, 0xf7, modRM | writesReg}, // andn, pext, mulx, shlx
	}),
	3: formsOf(modRM|imm8, []span{
		{0x14, 0x17, modRM | imm8 | writesRM}, {0x19, 0x19, modRM | imm8 | storesRM},
		{0x1b, 0x1b, modRM | imm8 | storesRM}, {0x1d, 0x1d, modRM | imm8 | storesRM},
		{0x39, 0x39, modRM | imm8 | storesRM}, {0x3b, 0x3b, modRM | imm8 | storesRM}, // vextract
		{0x61, 0x61, modRM | imm8 | writesC}, {0x63, 0x63, modRM | imm8 | writesC}, // pcmpestri, pcmpistri
		{0xf0, 0xf0, modRM | imm8 | writesReg}, // rorx
	}),
	5: formsOf(modRM, []span{ // half precision
		{0x11, 0x11, modRM | storesRM}, {0x2c, 0x2d, modRM | writesReg}, {0x78, 0x79, modRM | writesReg},
		{0x7e, 0x7e, modRM | writesRM},
	}),
	6: formsOf(modRM, nil),
	7: formsOf(invalid, []span{{0xf6, 0xf6, modRM | imm32 | writesRM}, {0xf8, 0xf8, modRM | imm32 | writesRM}}), // rdmsr
}
