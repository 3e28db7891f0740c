package arm64

// scalable has the SVE instructions that HotSpot's assembler can generate (assembler_aarch64.hpp).
var scalable = append([]row{
	// Moves, including those to and from memory.
	{0xffc0e000, 0x85804000, "ldr z<d>, <vladdr9>"},
	{0xffc0e010, 0x85800000, "ldr p<pd>, <vladdr9>"},
	{0xffc0e000, 0xe5804000, "str z<d>, <vladdr9>"},
	{0xffc0e010, 0xe5800000, "str p<pd>, <vladdr9>"},
	{0xff3fe000, 0x05208000, "mov z<d>.<e>, p<g>/m, <En>"},
	{0xff3fe000, 0x0528a000, "mov z<d>.<e>, p<g>/m, <e:Rn|SP>"},
	{0xff3ffc00, 0x05203800, "mov z<d>.<e>, <e:Rn|SP>"},
	{0xff20fc00, 0x05202000, "mov z<d>.<broadcast>"},
	{0xff3fc000, 0x2538c000, "mov z<d>.<e>, #<simm8>"},
	{0xff30c000, 0x05100000, "mov z<d>.<e>, p<pg4>/z, #<simm8>"},
	{0xff30c000, 0x05104000, "mov z<d>.<e>, p<pg4>/m, #<simm8>"},
	{0xff30e000, 0x0510c000, "fmov z<d>.<f>, p<pg4>/m, #<fimm5>"},
	{0xff3fe000, 0x2539c000, "fmov z<d>.<f>, #<fimm5>"},
	{0xffe0fc00, 0x04603000, "mov z<d>.d, z<n=m>.d"},
	{0xff20c000, 0x0520c000, "mov z<d>.<e>, p<g4>/m, z<n><d=m>.<e>"},
	{0xff20c000, 0x0520c000, "sel z<d>.<e>, p<g4>, z<n>.<e>, z<m>.<e>"},
	{0xfffffc00, 0x0420bc00, "movprfx z<d>, z<n>"},
	{0xff3fe000, 0x04102000, "movprfx z<d>.<e>, p<g>/z, z<n>.<e>"},
	{0xff3fe000, 0x04112000, "movprfx z<d>.<e>, p<g>/m, z<n>.<e>"},
	{0xfffc0000, 0x05c00000, "mov z<d>.<bits><not dup>"},
	{0xfffc0000, 0x05c00000, "dupm z<d>.<bits>"},
	{0xfffc0000, 0x05000000, "orr z<d>.<bits e>, z<d>.<bits>"},
	{0xfffc0000, 0x05400000, "eor z<d>.<bits e>, z<d>.<bits>"},
	{0xfffc0000, 0x05800000, "and z<d>.<bits e>, z<d>.<bits>"},

	// Bitwise.
	{0xffe0fc00, 0x04203000, "and z<d>.d, z<n>.d, z<m>.d"},
	{0xffe0fc00, 0x04603000, "orr z<d>.d, z<n>.d, z<m>.d"},
	{0xffe0fc00, 0x04a03000, "eor z<d>.d, z<n>.d, z<m>.d"},
	{0xffe0fc00, 0x04e03000, "bic z<d>.d, z<n>.d, z<m>.d"},
	{0xffe0fc00, 0x04203800, "eor3 z<d>.d, z<d>.d, z<m>.d, z<n>.d"},
	{0xffe0fc00, 0x04603800, "bcax z<d>.d, z<d>.d, z<m>.d, z<n>.d"},
	{0xff20fc00, 0x4500b000, "bext z<d>.<e>, z<n>.<e>, z<m>.<e>"},
	{0xff20fc00, 0x4500b400, "bdep z<d>.<e>, z<n>.<e>, z<m>.<e>"},
	{0xff20fc00, 0x4500b800, "bgrp z<d>.<e>, z<n>.<e>, z<m>.<e>"},
	{0xff20e000, 0x4520c000, "histcnt z<d>.<e sd>, p<g>/z, z<n>.<e>, z<m>.<e>"},

	// Constants and counts.
	{0xff3ffc10, 0x2518e000, "ptrue p<pd>.<e><pattern>"},
	{0xff3ffc10, 0x2519e000, "ptrues p<pd>.<e><pattern>"},
	{0xfffffff0, 0x2518e400, "pfalse p<pd>.b"},
	{0xff30fc00, 0x0420e000, "cnt<c> <Xd><count>"},
	{0xff30fc00, 0x0430e000, "inc<c> <Xd><count>"},
	{0xff30fc00, 0x0430e400, "dec<c> <Xd><count>"},
	{0xff30fc00, 0x0430c000, "inc<c> z<d>.<e!b><count>"},
	{0xff30fc00, 0x0430c400, "dec<c> z<d>.<e!b><count>"},
	{0xff3ffe00, 0x252c8800, "incp <Xd>, p<pn>.<e>"},
	{0xff3ffe00, 0x252d8800, "decp <Xd>, p<pn>.<e>"},
	{0xff3fc200, 0x25208000, "cntp <Xd>, p<pg>, p<pn>.<e>"},
	{0xffe0f800, 0x04205000, "addvl <Xd|SP>, <Xm|SP>, #<simm6>"},
	{0xffe0f800, 0x04605000, "addpl <Xd|SP>, <Xm|SP>, #<simm6>"},
	{0xfffff800, 0x04bf5000, "rdvl <Xd>, #<simm6>"},
	{0xff20fc00, 0x04204000, "index z<d>.<e>, #<simm5 n>, #<simm5 m>"},
	{0xff20fc00, 0x04204400, "index z<d>.<e>, <e:Rn>, #<simm5 m>"},
	{0xff20fc00, 0x04204800, "index z<d>.<e>, #<simm5 n>, <e:Rm>"},
	{0xff20fc00, 0x04204c00, "index z<d>.<e>, <e:Rn>, <e:Rm>"},
	{0xff20ec10, 0x25200400, "whilelt p<pd>.<e>, <w:Rn>, <w:Rm>"},
	{0xff20ec10, 0x25200410, "whilele p<pd>.<e>, <w:Rn>, <w:Rm>"},
	{0xff20ec10, 0x25200c00, "whilelo p<pd>.<e>, <w:Rn>, <w:Rm>"},
	{0xff20ec10, 0x25200c10, "whilels p<pd>.<e>, <w:Rn>, <w:Rm>"},

	// Predicates.
	{0xffffc210, 0x25904000, "brkb p<pd>.b, p<pg>/z, p<pn>.b"},
	{0xffffc210, 0x25904010, "brkb p<pd>.b, p<pg>/m, p<pn>.b"},
	{0xffffc210, 0x25104000, "brka p<pd>.b, p<pg>/z, p<pn>.b"},
	{0xffffc210, 0x25104010, "brka p<pd>.b, p<pg>/m, p<pn>.b"},
	{0xffffc21f, 0x2550c000, "ptest p<pg>, p<pn>.b"},
	{0xfffffe10, 0x2558c000, "pfirst p<pd>.b, p<pn>, p<pd>.b"},
	{0xff3ffe10, 0x2519c400, "pnext p<pd>.<e>, p<pn>, p<pd>.<e>"},
	{0xfff0c210, 0x25004000, "mov p<pd>.b, p<pg>/z, p<pn=pm>.b"},
	{0xfff0c210, 0x25004000, "and p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25004010, "bic p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25004200, "not p<pd>.b, p<pg=pm>/z, p<pn>.b"},
	{0xfff0c210, 0x25004200, "eor p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25004210, "mov p<pd>.b, p<pg>/m, p<pn><pd=pm>.b"},
	{0xfff0c210, 0x25004210, "sel p<pd>.b, p<pg>, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25404000, "movs p<pd>.b, p<pg>/z, p<pn=pm>.b"},
	{0xfff0c210, 0x25404000, "ands p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25404010, "bics p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25404200, "nots p<pd>.b, p<pg=pm>/z, p<pn>.b"},
	{0xfff0c210, 0x25404200, "eors p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25804000, "mov p<pd>.b, p<pg=pn=pm>.b"},
	{0xfff0c210, 0x25804000, "orr p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},
	{0xfff0c210, 0x25804010, "orn p<pd>.b, p<pg>/z, p<pn>.b, p<pm>.b"},

	// Permutations.
	{0xff3fe000, 0x0520a000, "lasta <e:Rd>, p<g>, z<n>.<e>"},
	{0xff3fe000, 0x0521a000, "lastb <e:Rd>, p<g>, z<n>.<e>"},
	{0xff3fe000, 0x05228000, "lasta <Ed>, p<g>, z<n>.<e>"},
	{0xff3fe000, 0x05238000, "lastb <Ed>, p<g>, z<n>.<e>"},
	{0xff3fe000, 0x05218000, "compact z<d>.<e sd>, p<g>, z<n>.<e>"},
	{0xff3fe000, 0x052c8000, "splice z<d>.<e>, p<g>, z<d>.<e>, z<n>.<e>"},
	{0xff3ffc00, 0x05383800, "rev z<d>.<e>, z<n>.<e>"},
	{0xff3ffe10, 0x05344000, "rev p<pd>.<e>, p<pn>.<e>"},
	{0xff3ffc00, 0x05243800, "insr z<d>.<e>, <e:Rn>"},
	{0xff3ffc00, 0x05343800, "insr z<d>.<e>, <En>"},
	{0xff20fc00, 0x05203000, "tbl z<d>.<e>, {z<n>.<e>}, z<m>.<e>"},
	{0xff20fc00, 0x05202800, "tbl z<d>.<e>, {z<n>.<e>, z<n+1>.<e>}, z<m>.<e>"},
	{0xffe0e000, 0x05200000, "ext z<d>.b, z<d>.b, z<n>.b, #<ext8>"},
	{0xff3ffc00, 0x05303800, "sunpklo z<d>.<e!b>, z<n>.<half>"},
	{0xff3ffc00, 0x05313800, "sunpkhi z<d>.<e!b>, z<n>.<half>"},
	{0xff3ffc00, 0x05323800, "uunpklo z<d>.<e!b>, z<n>.<half>"},
	{0xff3ffc00, 0x05333800, "uunpkhi z<d>.<e!b>, z<n>.<half>"},
	{0xfffffe10, 0x05304000, "punpklo p<pd>.h, p<pn>.b"},
	{0xfffffe10, 0x05314000, "punpkhi p<pd>.h, p<pn>.b"},
	{0xff3fe000, 0x05248000, "revb z<d>.<e!b>, p<g>/m, z<n>.<e>"},
	{0xff3fe000, 0x05278000, "rbit z<d>.<e>, p<g>/m, z<n>.<e>"},

	// Conversions, and sums in order.
	{0xff3fe000, 0x65182000, "fadda <Ed>, p<g>, <Ed>, z<n>.<f>"},
	{0xffffe000, 0x6552a000, "scvtf z<d>.h, p<g>/m, z<n>.h"},
	{0xffffe000, 0x6554a000, "scvtf z<d>.h, p<g>/m, z<n>.s"},
	{0xffffe000, 0x6594a000, "scvtf z<d>.s, p<g>/m, z<n>.s"},
	{0xffffe000, 0x65d0a000, "scvtf z<d>.d, p<g>/m, z<n>.s"},
	{0xffffe000, 0x65d4a000, "scvtf z<d>.s, p<g>/m, z<n>.d"},
	{0xffffe000, 0x65d6a000, "scvtf z<d>.d, p<g>/m, z<n>.d"},
	{0xffffe000, 0x655aa000, "fcvtzs z<d>.h, p<g>/m, z<n>.h"},
	{0xffffe000, 0x655ca000, "fcvtzs z<d>.s, p<g>/m, z<n>.h"},
	{0xffffe000, 0x659ca000, "fcvtzs z<d>.s, p<g>/m, z<n>.s"},
	{0xffffe000, 0x65d8a000, "fcvtzs z<d>.s, p<g>/m, z<n>.d"},
	{0xffffe000, 0x65dca000, "fcvtzs z<d>.d, p<g>/m, z<n>.s"},
	{0xffffe000, 0x65dea000, "fcvtzs z<d>.d, p<g>/m, z<n>.d"},
	{0xffffe000, 0x6588a000, "fcvt z<d>.h, p<g>/m, z<n>.s"},
	{0xffffe000, 0x6589a000, "fcvt z<d>.s, p<g>/m, z<n>.h"},
	{0xffffe000, 0x65c8a000, "fcvt z<d>.h, p<g>/m, z<n>.d"},
	{0xffffe000, 0x65c9a000, "fcvt z<d>.d, p<g>/m, z<n>.h"},
	{0xffffe000, 0x65caa000, "fcvt z<d>.s, p<g>/m, z<n>.d"},
	{0xffffe000, 0x65cba000, "fcvt z<d>.d, p<g>/m, z<n>.s"},

	// Vectors of addresses. The offsets are as wide as the elements.
	{0xffa0e000, 0x85004000, "ld1w {z<d>.s}, p<g>/z, [<Xn|SP>, z<m>.s, <xs22>]"},
	{0xffa0e000, 0x85204000, "ld1w {z<d>.s}, p<g>/z, [<Xn|SP>, z<m>.s, <xs22> #2]"},
	{0xffe0e000, 0xc540c000, "ld1w {z<d>.d}, p<g>/z, [<Xn|SP>, z<m>.d]"},
	{0xffe0e000, 0xc560c000, "ld1w {z<d>.d}, p<g>/z, [<Xn|SP>, z<m>.d, lsl #2]"},
	{0xffe0e000, 0xc5c0c000, "ld1d {z<d>.d}, p<g>/z, [<Xn|SP>, z<m>.d]"},
	{0xffe0e000, 0xc5e0c000, "ld1d {z<d>.d}, p<g>/z, [<Xn|SP>, z<m>.d, lsl #3]"},
	{0xffa0e000, 0xc5a04000, "ld1d {z<d>.d}, p<g>/z, [<Xn|SP>, z<m>.d, <xs22> #3]"},
	{0xffe0a000, 0xe5408000, "st1w {z<d>.s}, p<g>, [<Xn|SP>, z<m>.s, <xs14>]"},
	{0xffe0a000, 0xe5608000, "st1w {z<d>.s}, p<g>, [<Xn|SP>, z<m>.s, <xs14> #2]"},
	{0xffe0e000, 0xe580a000, "st1d {z<d>.d}, p<g>, [<Xn|SP>, z<m>.d]"},
	{0xffe0e000, 0xe5a0a000, "st1d {z<d>.d}, p<g>, [<Xn|SP>, z<m>.d, lsl #3]"},
	{0xffe0a000, 0xe5a08000, "st1d {z<d>.d}, p<g>, [<Xn|SP>, z<m>.d, <xs14> #3]"},
}, scalableRows()...)

// scalableRows returns the rows of scalableFamilies, and of SVE's loads and stores.
func scalableRows() []row {
	var rows []row
	for _, f := range scalableFamilies {
		rows = f.rows(rows)
	}
	// The index of each text is the value of the field dtype. This field says how large the elements in memory are, and
	// how a load extends them.
	for i, m := range [...]string{
		"b {z<d>.b}", "b {z<d>.h}", "b {z<d>.s}", "b {z<d>.d}", "sw {z<d>.d}", "h {z<d>.h}", "h {z<d>.s}", "h {z<d>.d}",
		"sh {z<d>.d}", "sh {z<d>.s}", "w {z<d>.s}", "w {z<d>.d}", "sb {z<d>.d}", "sb {z<d>.s}", "sb {z<d>.h}",
		"d {z<d>.d}",
	} {
		dtype := uint32(i) << 21
		shift := ""
		switch m[:2] {
		case "h ", "sh":
			shift = ", lsl #1"
		case "w ", "sw":
			shift = ", lsl #2"
		case "d ":
			shift = ", lsl #3"
		}
		rows = append(rows,
			row{0xfff0e000, 0xa400a000 | dtype, "ld1" + m + ", p<g>/z, <vladdr4>"},
			row{0xffe0e000, 0xa4004000 | dtype, "ld1" + m + ", p<g>/z, [<Xn|SP>, <Xm!31>" + shift + "]"})
		if m[0] != 's' { // a store extends nothing, so it has no signed variant
			rows = append(rows,
				row{0xfff0e000, 0xe400e000 | dtype, "st1" + m + ", p<g>, <vladdr4>"},
				row{0xffe0e000, 0xe4004000 | dtype, "st1" + m + ", p<g>, [<Xn|SP>, <Xm!31>" + shift + "]"})
		}
	}
	return rows
}
