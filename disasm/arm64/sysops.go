package arm64

import "github.com/gasm-profiler/gasm/disasm/asm"

// systemOps are the operands of system instructions.
var systemOps = map[string]operand{
	"hint": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		name := hints[asm.Bits(x, 5, 7)]
		return append(b, name...), name != ""
	},
	"hintnum": hexOp(5, 7),
	"crm":     hexOp(8, 4),
	"crm10":   decimalOp(8, 4),
	"crn":     decimalOp(12, 4),
	"op1":     decimalOp(16, 3),
	"op2":     decimalOp(5, 3),
	"barrier": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		crm := asm.Bits(x, 8, 4)
		if name := barriers[crm]; name != "" {
			return append(b, name...), true
		}
		return append(b, '#', '0', 'x', '0', "0123456789abcdef"[crm]), true
	},
	"key": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		return append(b, "iidd"[asm.Bits(x, 10, 2)], "ab"[asm.Bits(x, 10, 1)]), true
	},
	"sysreg": func(b []byte, x uint32, _ uint64) ([]byte, bool) {
		reg := asm.Bits(x, 5, 15) | 1<<15 // the encoding has one bit for op0, which is 2 or 3
		if name := sysRegs[reg]; name != "" {
			return append(b, name...), true
		}
		b = appendInt(append(b, 's'), int(reg>>14))
		b = appendInt(append(b, '_'), int(asm.Bits(x, 16, 3)))
		b = appendInt(append(b, "_c"...), int(asm.Bits(x, 12, 4)))
		b = appendInt(append(b, "_c"...), int(asm.Bits(x, 8, 4)))
		return appendInt(append(b, '_'), int(asm.Bits(x, 5, 3))), true
	},
}

// hints are the names of hints by number.
var hints = [128]string{
	0: "nop", 1: "yield", 2: "wfe", 3: "wfi", 4: "sev", 5: "sevl", 7: "xpaclri",
	8: "pacia1716", 10: "pacib1716", 12: "autia1716", 14: "autib1716",
	16: "esb", 17: "psb    csync", 18: "tsb    csync", 20: "csdb", 22: "clearbhb",
	24: "paciaz", 25: "paciasp", 26: "pacibz", 27: "pacibsp",
	28: "autiaz", 29: "autiasp", 30: "autibz", 31: "autibsp",
	32: "bti", 34: "bti    c", 36: "bti    j", 38: "bti    jc",
}

// barriers has the names of barriers. Bits 3 and 2 of the index are the domain, and bits 1 and 0 say which accesses the
// barrier orders.
var barriers = [16]string{
	1: "oshld", 2: "oshst", 3: "osh",
	5: "nshld", 6: "nshst", 7: "nsh",
	9: "ishld", 10: "ishst", 11: "ish",
	13: "ld", 14: "st", 15: "sy",
}

// sysReg returns the number of a system register from its fields op0, op1, CRn, CRm and op2.
func sysReg(op0, op1, n, m, op2 uint32) uint32 { return op0<<14 | op1<<11 | n<<7 | m<<3 | op2 }

// sysRegs are the names of the system registers that code in user mode can use. All other registers are spelled by
// their fields, for example s3_0_c0_c0_0.
var sysRegs = map[uint32]string{
	sysReg(3, 0, 0, 0, 0):  "midr_el1",
	sysReg(3, 0, 0, 0, 5):  "mpidr_el1",
	sysReg(3, 0, 0, 0, 6):  "revidr_el1",
	sysReg(3, 0, 0, 4, 0):  "id_aa64pfr0_el1",
	sysReg(3, 0, 0, 4, 1):  "id_aa64pfr1_el1",
	sysReg(3, 0, 0, 4, 4):  "id_aa64zfr0_el1",
	sysReg(3, 0, 0, 5, 0):  "id_aa64dfr0_el1",
	sysReg(3, 0, 0, 6, 0):  "id_aa64isar0_el1",
	sysReg(3, 0, 0, 6, 1):  "id_aa64isar1_el1",
	sysReg(3, 0, 0, 6, 2):  "id_aa64isar2_el1",
	sysReg(3, 0, 0, 7, 0):  "id_aa64mmfr0_el1",
	sysReg(3, 0, 4, 2, 2):  "CurrentEL",
	sysReg(3, 3, 0, 0, 1):  "ctr_el0",
	sysReg(3, 3, 0, 0, 7):  "dczid_el0",
	sysReg(3, 3, 2, 4, 0):  "rndr",
	sysReg(3, 3, 2, 4, 1):  "rndrrs",
	sysReg(3, 3, 4, 2, 0):  "nzcv",
	sysReg(3, 3, 4, 2, 1):  "daif",
	sysReg(3, 3, 4, 2, 5):  "dit",
	sysReg(3, 3, 4, 2, 6):  "ssbs",
	sysReg(3, 3, 4, 4, 0):  "fpcr",
	sysReg(3, 3, 4, 4, 1):  "fpsr",
	sysReg(3, 3, 13, 0, 2): "tpidr_el0",
	sysReg(3, 3, 13, 0, 3): "tpidrro_el0",
	sysReg(3, 3, 14, 0, 0): "cntfrq_el0",
	sysReg(3, 3, 14, 0, 1): "cntpct_el0",
	sysReg(3, 3, 14, 0, 2): "cntvct_el0",
	sysReg(3, 3, 14, 0, 6): "cntvctss_el0",
}
