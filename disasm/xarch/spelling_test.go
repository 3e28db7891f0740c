package xarch

// spellings lists the instructions of testdata that this package spells differently from objdump: objdump's
// text, then ours. Kind, target and length are right in all of them.
var spellings = map[string]map[string]string{
	"ppc64le": {
		// ppc64asm does not have extended mnemonics for traps, moves, shifts and condition register fields.
		"trap":            "tw 31,r0,r0",
		"tdeqi r3,17":     "tdi 4,r3,17",
		"twllei r4,100":   "twi 6,r4,100",
		"mr r30,r3":       "or r30,r3,r3",
		"not r3,r4":       "nor r3,r4,r4",
		"sldi r3,r4,3":    "rldicr r3,r4,3,60",
		"srdi r3,r4,3":    "rldicl r3,r4,61,3",
		"slwi r3,r4,2":    "rlwinm r3,r4,2,0,29",
		"clrldi r3,r4,32": "rldicl r3,r4,0,32",
		"sldi r3,r4,8":    "rldicr r3,r4,8,55",
		"crclr 4*cr1+eq":  "crxor 4*cr1+eq,4*cr1+eq,4*cr1+eq",
		"mtcr r6":         "mtcrf 255,r6",
		"iseleq r3,r4,r5": "isel r3,r4,r5,eq",

		// ppc64asm writes operands that are zero by default.
		"sc":          "sc 0",
		"dcbtct 0,r3": "dcbt r0,r3,0",

		// ppc64asm writes the base register r0, which stands for the number 0 here, as a register.
		"ldbrx r3,0,r4":     "ldbrx r3,r0,r4",
		"stwcx. r3,0,r4":    "stwcx. r3,r0,r4",
		"dcbz 0,r3":         "dcbz r0,r3",
		"icbi 0,r3":         "icbi r0,r3",
		"lvx v1,0,r4":       "lvx v1,r0,r4",
		"lxvd2x vs34,0,r4":  "lxvd2x vs34,r0,r4",
		"stxvd2x vs34,0,r4": "stxvd2x vs34,r0,r4",

		// ppc64asm names the vector register. objdump names the half of it that is moved, a floating-point register.
		"mtfprd f1,r3": "mtvsrd vs1,r3",
		"mffprd r3,f1": "mfvsrd r3,vs1",
	},
	"riscv64": {
		// riscv64asm does not have the short spellings of these.
		"jalr -8(t1)":  "jalr ra,-8(t1)",
		"jalr t0,t2":   "jalr t0,0(t2)",
		"zext.w a0,a1": "add.uw a0,a1,zero",

		// Here, zeros are padding and not an instruction.
		"unimp": ".byte 0x0, 0x0",

		// riscv64asm does not write the rounding mode.
		"fadd.s fa0,fa1,fa2,rtz": "fadd.s fa0,fa1,fa2",
		"fcvt.l.d a0,fa0,rtz":    "fcvt.l.d a0,fa0",
	},
	"s390x": {
		// s390xasm does not have extended mnemonics for these.
		"jghe 0x3c":             "brcl 10,0x3c",
		"nop":                   "nopr 0",
		"risbgz %r2,%r3,0,63,5": "risbg %r2,%r3,0,191,5",
		"vceqgs %v1,%v2,%v3":    "vceq %v1,%v2,%v3,3,1",
		"vistrbs %v1,%v2":       "vistr %v1,%v2,0,1",

		// s390xasm writes operands that are zero by default.
		"nopr":           "nopr %r0",
		"popcnt %r2,%r3": "popcnt %r2,%r3,0",
		"vl %v1,16(%r2)": "vl %v1,16(%r2),0",

		// s390xasm omits a base register that is not used. objdump 2.44 writes 0 for it (2.40: %r0).
		"mvc 82(200,0),3688(%r13)": "mvc 82(200),3688(%r13)",
	},
	"loong64": {
		// loong64asm does not have the short spelling of this.
		"li.w $a0, 0x5": "ori $a0, $zero, 0x5",

		// loong64asm does not know vector instructions (LSX, LASX).
		"vld $vr0, $a0, 16":        ".byte 0x80, 0x40, 0x0, 0x2c",
		"vst $vr0, $a0, -16":       ".byte 0x80, 0xc0, 0x7f, 0x2c",
		"vadd.d $vr0, $vr1, $vr2":  ".byte 0x20, 0x88, 0xb, 0x70",
		"xvadd.w $xr0, $xr1, $xr2": ".byte 0x20, 0x8, 0xb, 0x74",
	},
}
