package arm64

// A family is a group of instructions that have the same operands and differ only in an opcode. The map has the
// mnemonic for each opcode.
type family struct {
	mask, base uint32
	shift      int // position of the opcode
	args       string
	names      map[uint32]string
}

func (f family) rows(rows []row) []row {
	for op, name := range f.names {
		rows = append(rows, row{f.mask, f.base + op<<f.shift, name + " " + f.args})
	}
	return rows
}

// vector returns the rows of Advanced SIMD: instructions on vectors, and on scalars in vector registers.
func vector() []row {
	rows := vectorSingle()
	rows = append(rows, structures()...)
	for _, f := range families {
		rows = f.rows(rows)
	}
	return rows
}

// vectorSingle returns the instructions that belong to no family.
func vectorSingle() []row {
	return []row{
		// Bitwise.
		{0xbfe0fc00, 0x0e201c00, "and v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x0e601c00, "bic v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x0ea01c00, "mov v<d>.<B>, v<n=m>.<B>"},
		{0xbfe0fc00, 0x0ea01c00, "orr v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x0ee01c00, "orn v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x2e201c00, "eor v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x2e601c00, "bsl v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x2ea01c00, "bit v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x2ee01c00, "bif v<d>.<B>, v<n>.<B>, v<m>.<B>"},
		{0xbffffc00, 0x2e205800, "mvn v<d>.<B>, v<n>.<B>"},
		{0xbffffc00, 0x2e605800, "rbit v<d>.<B>, v<n>.<B>"},
		{0xbffffc00, 0x0e205800, "cnt v<d>.<B>, v<n>.<B>"},
		{0xbffffc00, 0x0e201800, "rev16 v<d>.<B>, v<n>.<B>"},

		// Moves of elements.
		{0xbfe0fc00, 0x0e000400, "dup v<d>.<dup>, v<n>.<elem>"},
		{0xbfe0fc00, 0x0e000c00, "dup v<d>.<dup>, <general n>"},
		{0xffe0fc00, 0x5e000400, "mov <elemreg d>, v<n>.<elem>"},
		{0xbfe0fc00, 0x0e002c00, "smov <smov d>, v<n>.<elem>"},
		{0xffe7fc00, 0x0e043c00, "mov <Wd>, v<n>.<elem>"},
		{0xffeffc00, 0x4e083c00, "mov <Xd>, v<n>.<elem>"},
		{0xbfe0fc00, 0x0e003c00, "umov <umov d>, v<n>.<elem>"},
		{0xffe0fc00, 0x4e001c00, "mov v<d>.<elem>, <general n>"},
		{0xffe08400, 0x6e000400, "mov v<d>.<elem>, v<n>.<elem2>"},

		// Constants.
		{0xbff89c00, 0x0f000400, "movi v<d>.<S>, #<imm8><lsl32>"},
		{0xbff89c00, 0x0f001400, "orr v<d>.<S>, #<imm8><lsl32>"},
		{0xbff8dc00, 0x0f008400, "movi v<d>.<H>, #<imm8><lsl16>"},
		{0xbff8dc00, 0x0f009400, "orr v<d>.<H>, #<imm8><lsl16>"},
		{0xbff8ec00, 0x0f00c400, "movi v<d>.<S>, #<imm8>, msl #<msl>"},
		{0xbff8fc00, 0x0f00e400, "movi v<d>.<B>, #<imm8>"},
		{0xbff8fc00, 0x0f00f400, "fmov v<d>.<S>, #<fimm8>"},
		{0xbff8fc00, 0x0f00fc00, "fmov v<d>.<H>, #<fimm8>"},
		{0xfff8fc00, 0x6f00f400, "fmov v<d>.2d, #<fimm8>"},
		{0xbff89c00, 0x2f000400, "mvni v<d>.<S>, #<imm8><lsl32>"},
		{0xbff89c00, 0x2f001400, "bic v<d>.<S>, #<imm8><lsl32>"},
		{0xbff8dc00, 0x2f008400, "mvni v<d>.<H>, #<imm8><lsl16>"},
		{0xbff8dc00, 0x2f009400, "bic v<d>.<H>, #<imm8><lsl16>"},
		{0xbff8ec00, 0x2f00c400, "mvni v<d>.<S>, #<imm8>, msl #<msl>"},
		{0xfff8fc00, 0x2f00e400, "movi <Dd>, #<bytes>"},
		{0xfff8fc00, 0x6f00e400, "movi v<d>.2d, #<bytes>"},

		// Permutations.
		{0xbfe08400, 0x2e000000, "ext v<d>.<B>, v<n>.<B>, v<m>.<B>, #<ext>"},
		{0xbfe09c00, 0x0e000000, "tbl v<d>.<B>, <table>, v<m>.<B>"},
		{0xbfe09c00, 0x0e001000, "tbx v<d>.<B>, <table>, v<m>.<B>"},

		// Widening and narrowing.
		{0xbf3ffc00, 0x2e213800, "shll<2> v<d>.<wide>, v<n>.<T3>, #<shll>"},
		{0xffe0fc00, 0x0ee0e000, "pmull v<d>.1q, v<n>.1d, v<m>.1d"},
		{0xffe0fc00, 0x4ee0e000, "pmull2 v<d>.1q, v<n>.2d, v<m>.2d"},
		{0xbfe0fc00, 0x0e20e000, "pmull<2> v<d>.8h, v<n>.<B>, v<m>.<B>"},
		{0xbfbffc00, 0x0e216800, "fcvtn<2> v<d>.<fnarrow>, v<n>.<fwide>"},
		{0xbfbffc00, 0x0e217800, "fcvtl<2> v<d>.<fwide>, v<n>.<fnarrow>"},
		{0xbffffc00, 0x2e616800, "fcvtxn<2> v<d>.<S>, v<n>.2d"},
		{0xfffffc00, 0x7e616800, "fcvtxn <Sd>, <Dn>"},

		// Estimates of reciprocals and of reciprocal square roots, for integers.
		{0xbffffc00, 0x0ea1c800, "urecpe v<d>.<S>, v<n>.<S>"},
		{0xbffffc00, 0x2ea1c800, "ursqrte v<d>.<S>, v<n>.<S>"},

		// Reductions of all elements to one.
		{0xfffffc00, 0x5ef1b800, "addp <Dd>, v<n>.2d"},
		{0xffbffc00, 0x7e30c800, "fmaxnmp <Gd>, v<n>.<pair>"},
		{0xffbffc00, 0x7e30d800, "faddp <Gd>, v<n>.<pair>"},
		{0xffbffc00, 0x7e30f800, "fmaxp <Gd>, v<n>.<pair>"},
		{0xffbffc00, 0x7eb0c800, "fminnmp <Gd>, v<n>.<pair>"},
		{0xffbffc00, 0x7eb0f800, "fminp <Gd>, v<n>.<pair>"},
		{0xfffffc00, 0x5e30c800, "fmaxnmp <Hd>, v<n>.2h"},
		{0xfffffc00, 0x5e30d800, "faddp <Hd>, v<n>.2h"},
		{0xfffffc00, 0x5e30f800, "fmaxp <Hd>, v<n>.2h"},
		{0xfffffc00, 0x5eb0c800, "fminnmp <Hd>, v<n>.2h"},
		{0xfffffc00, 0x5eb0f800, "fminp <Hd>, v<n>.2h"},
		{0xfffffc00, 0x6e30c800, "fmaxnmv <Sd>, v<n>.4s"},
		{0xfffffc00, 0x6e30f800, "fmaxv <Sd>, v<n>.4s"},
		{0xfffffc00, 0x6eb0c800, "fminnmv <Sd>, v<n>.4s"},
		{0xfffffc00, 0x6eb0f800, "fminv <Sd>, v<n>.4s"},
		{0xbffffc00, 0x0e30c800, "fmaxnmv <Hd>, v<n>.<H>"},
		{0xbffffc00, 0x0e30f800, "fmaxv <Hd>, v<n>.<H>"},
		{0xbffffc00, 0x0eb0c800, "fminnmv <Hd>, v<n>.<H>"},
		{0xbffffc00, 0x0eb0f800, "fminv <Hd>, v<n>.<H>"},

		// Sums of products.
		{0xbfe0fc00, 0x0e809400, "sdot v<d>.<S>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x2e809400, "udot v<d>.<S>, v<n>.<B>, v<m>.<B>"},
		{0xbfe0fc00, 0x0e809c00, "usdot v<d>.<S>, v<n>.<B>, v<m>.<B>"},
		{0xbfc0f400, 0x0f80e000, "sdot v<d>.<S>, v<n>.<B>, v<m>.4b[<index s>]"},
		{0xbfc0f400, 0x2f80e000, "udot v<d>.<S>, v<n>.<B>, v<m>.4b[<index s>]"},
	}
}

// structures returns the loads and stores of whole vectors and of single elements, with up to four registers at
// once.
func structures() []row {
	var rows []row
	for load, verb := range [...]string{"st", "ld"} {
		l := uint32(load) << 22
		for _, m := range [...]struct {
			op         uint32
			name, list string
		}{
			{0b0111, "1", "<list1>"}, {0b1010, "1", "<list2>"}, {0b0110, "1", "<list3>"}, {0b0010, "1", "<list4>"},
			{0b1000, "2", "<no1d><list2>"}, {0b0100, "3", "<no1d><list3>"}, {0b0000, "4", "<no1d><list4>"},
		} {
			text := verb + m.name + " " + m.list + ", [<Xn|SP>]"
			rows = append(rows,
				row{0xbffff000, 0x0c000000 | l | m.op<<12, text},
				row{0xbfe0f000, 0x0c800000 | l | m.op<<12, text + ", <post" + m.list[len(m.list)-2:]})
		}
		for regs := range uint32(4) {
			n := string(rune('1' + regs))
			base := 0x0d000000 | l | regs&1<<21 | regs>>1<<13
			for _, s := range [...]struct {
				mask, value uint32
				elem        string
			}{
				{0xe000, 0x0000, "b"}, {0xe400, 0x4000, "h"}, {0xec00, 0x8000, "s"}, {0xfc00, 0x8400, "d"},
			} {
				text := verb + n + " <lane" + s.elem + n + ">, [<Xn|SP>]"
				mask := 0xbfff0000 | s.mask
				rows = append(rows,
					row{mask, base | s.value, text},
					row{mask &^ 0x1f0000, base | 1<<23 | s.value, text + ", <post" + s.elem + n + ">"})
			}
			if load == 1 {
				text := "ld" + n + "r <list" + n + ">, [<Xn|SP>]"
				rows = append(rows,
					row{0xbffff000, base | 0xc000, text},
					row{0xbfe0f000, base | 1<<23 | 0xc000, text + ", <postr" + n + ">"})
			}
		}
	}
	return rows
}
