package amd64

import (
	"cmp"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// A missingOp is an instruction that x86asm does not know or decodes as a different instruction. It has no VEX or
// EVEX prefix.
type missingOp struct {
	pp       byte // the prefix that is part of the opcode: 0x66, 0xf2, 0xf3; 0 if F2 and F3 must be absent
	mapNo    byte // 1: 0F, 2: 0F38, 3: 0F3A
	opcode   byte
	digit    int8 // ModRM.reg, or anyDigit
	mod      modKind
	rm       int8 // ModRM.rm if the operand is a register, or anyDigit
	name     string
	operands opOperands // in the order of Intel syntax
	bytes    uint8      // size of the memory operand; 0 if there is none
}

// opOperands are the operands of an instruction in the order of Intel syntax, terminated by 0.
type opOperands [3]operandForm

const anyDigit = -1

// A modKind says which values of ModRM.mod an instruction accepts.
type modKind uint8

const (
	anyMod modKind = iota
	regMod
	memMod
)

// An operandForm says where an operand is encoded, and whether it is a register, memory or an immediate.
type operandForm uint8

const (
	_      operandForm = iota
	regY               // ModRM.reg: a general register of 64 bits with REX.W, else of 32 bits
	regV               // the same, but of 16 bits with a 66 prefix
	regQ               // the same, but always of 64 bits
	regA               // the same, but as wide as an address
	regX               // xmm
	rmY                // ModRM.rm: memory, or a register as wide as that of regY
	rmV                // the same, as wide as regV
	rmQ                // the same, as wide as regQ
	rmA                // the same, as wide as regA
	rmX                // ModRM.rm: memory or xmm
	mem                // ModRM.rm, memory only
	immB               // an immediate byte at the end of the instruction
	impEAX             // registers that the opcode implies
	impECX
	impEDX
	impEBX
	impRAX
)

// missingOps has all instructions that x86asm misses. If several entries match an instruction, one that requires a 66
// prefix wins. If no match requires that prefix, the first match wins.
var missingOps = []missingOp{
	// 0F 01 with a register: each ModRM byte is a separate instruction.
	{0, 1, 0x01, 0, regMod, 1, "vmcall", opOperands{}, 0},
	{0, 1, 0x01, 0, regMod, 2, "vmlaunch", opOperands{}, 0},
	{0, 1, 0x01, 0, regMod, 3, "vmresume", opOperands{}, 0},
	{0, 1, 0x01, 0, regMod, 4, "vmxoff", opOperands{}, 0},
	{0, 1, 0x01, 0, regMod, 5, "pconfig", opOperands{}, 0},
	{0, 1, 0x01, 1, regMod, 2, "clac", opOperands{}, 0},
	{0, 1, 0x01, 1, regMod, 3, "stac", opOperands{}, 0},
	{0, 1, 0x01, 1, regMod, 7, "encls", opOperands{}, 0},
	{0, 1, 0x01, 2, regMod, 4, "vmfunc", opOperands{}, 0},
	{0, 1, 0x01, 2, regMod, 7, "enclu", opOperands{}, 0},
	{0, 1, 0x01, 3, regMod, 1, "vmmcall", opOperands{}, 0},
	{0, 1, 0x01, 5, regMod, 0, "serialize", opOperands{}, 0},
	{0xf2, 1, 0x01, 5, regMod, 0, "xsusldtrk", opOperands{}, 0},
	{0xf2, 1, 0x01, 5, regMod, 1, "xresldtrk", opOperands{}, 0},
	{0xf3, 1, 0x01, 5, regMod, 0, "setssbsy", opOperands{}, 0},
	{0xf3, 1, 0x01, 5, regMod, 2, "saveprevssp", opOperands{}, 0},
	{0xf3, 1, 0x01, 5, memMod, 0, "rstorssp", opOperands{mem}, 8},
	{0, 1, 0x01, 5, regMod, 6, "rdpkru", opOperands{}, 0},
	{0, 1, 0x01, 5, regMod, 7, "wrpkru", opOperands{}, 0},
	{0, 1, 0x01, 7, regMod, 2, "monitorx", opOperands{impRAX, impECX, impEDX}, 0},
	{0, 1, 0x01, 7, regMod, 3, "mwaitx", opOperands{impEBX, impECX, impEAX}, 0},
	{0, 1, 0x01, 7, regMod, 4, "clzero", opOperands{}, 0},
	{0, 1, 0x01, 7, regMod, 5, "rdpru", opOperands{}, 0},

	// Caches, hints and prefetches.
	{0xf3, 1, 0x09, anyDigit, anyMod, 0, "wbnoinvd", opOperands{}, 0},
	{0, 1, 0x0d, 0, memMod, 0, "prefetch", opOperands{mem}, 1},
	{0, 1, 0x0d, 1, memMod, 0, "prefetchw", opOperands{mem}, 1},
	{0, 1, 0x0d, 2, memMod, 0, "prefetchwt1", opOperands{mem}, 1},
	{0, 1, 0x0d, 3, memMod, 0, "prefetch", opOperands{mem}, 1},
	{0, 1, 0x0d, 4, memMod, 0, "prefetch", opOperands{mem}, 1},
	{0, 1, 0x0d, 5, memMod, 0, "prefetch", opOperands{mem}, 1},
	{0, 1, 0x0d, 6, memMod, 0, "prefetch", opOperands{mem}, 1},
	{0, 1, 0x0d, 7, memMod, 0, "prefetch", opOperands{mem}, 1},
	{0xf3, 1, 0x1e, 7, regMod, 2, "endbr64", opOperands{}, 0},
	{0xf3, 1, 0x1e, 7, regMod, 3, "endbr32", opOperands{}, 0},
	{0xf3, 1, 0x1e, 1, regMod, anyDigit, "rdssp", opOperands{rmY}, 0},

	// AMD's multimedia extensions.
	{0, 1, 0x0e, anyDigit, anyMod, 0, "femms", opOperands{}, 0},

	{0, 1, 0x1c, 0, memMod, 0, "cldemote", opOperands{mem}, 1},

	// Cache lines, waiting, shadow stacks.
	{0x66, 1, 0xae, 6, memMod, 0, "clwb", opOperands{mem}, 1},
	{0x66, 1, 0xae, 7, memMod, 0, "clflushopt", opOperands{mem}, 1},
	{0x66, 1, 0xae, 6, regMod, anyDigit, "tpause", opOperands{rmY}, 0},
	{0xf2, 1, 0xae, 6, regMod, anyDigit, "umwait", opOperands{rmY}, 0},
	{0xf3, 1, 0xae, 6, regMod, anyDigit, "umonitor", opOperands{rmA}, 0},
	{0xf3, 1, 0xae, 6, memMod, 0, "clrssbsy", opOperands{mem}, 8},
	{0xf3, 1, 0xae, 4, anyMod, anyDigit, "ptwrite", opOperands{rmY}, 4},
	{0xf3, 1, 0xae, 5, regMod, anyDigit, "incssp", opOperands{rmY}, 0},
	{0x66, 2, 0xf5, anyDigit, memMod, 0, "wruss", opOperands{rmY, regY}, 4},
	{0, 2, 0xf6, anyDigit, memMod, 0, "wrss", opOperands{rmY, regY}, 4},

	// Virtual machines.
	{0, 1, 0x78, anyDigit, anyMod, anyDigit, "vmread", opOperands{rmQ, regQ}, 8},
	{0, 1, 0x79, anyDigit, anyMod, anyDigit, "vmwrite", opOperands{regQ, rmQ}, 8},
	{0, 1, 0xc7, 6, memMod, 0, "vmptrld", opOperands{mem}, 8},
	{0x66, 1, 0xc7, 6, memMod, 0, "vmclear", opOperands{mem}, 8},
	{0xf3, 1, 0xc7, 6, memMod, 0, "vmxon", opOperands{mem}, 8},
	{0, 1, 0xc7, 7, memMod, 0, "vmptrst", opOperands{mem}, 8},
	{0xf3, 1, 0xc7, 7, regMod, anyDigit, "rdpid", opOperands{rmQ}, 0},
	{0xf3, 1, 0xc7, 6, regMod, anyDigit, "senduipi", opOperands{rmQ}, 0},
	{0, 1, 0xc7, 6, regMod, anyDigit, "rdrand", opOperands{rmV}, 0},
	{0, 1, 0xc7, 7, regMod, anyDigit, "rdseed", opOperands{rmV}, 0},
	{0x66, 2, 0x80, anyDigit, memMod, 0, "invept", opOperands{regQ, mem}, owordSize},
	{0x66, 2, 0x81, anyDigit, memMod, 0, "invvpid", opOperands{regQ, mem}, owordSize},
	{0x66, 2, 0x82, anyDigit, memMod, 0, "invpcid", opOperands{regQ, mem}, 0},
	{0, 1, 0x37, anyDigit, anyMod, 0, "getsec", opOperands{}, 0},

	// Carry chains, direct stores, Galois fields.
	{0x66, 2, 0xf6, anyDigit, anyMod, anyDigit, "adcx", opOperands{regY, rmY}, 4},
	{0xf3, 2, 0xf6, anyDigit, anyMod, anyDigit, "adox", opOperands{regY, rmY}, 4},
	{0x66, 2, 0xf8, anyDigit, memMod, 0, "movdir64b", opOperands{regA, mem}, 0},
	{0xf2, 2, 0xf8, anyDigit, memMod, 0, "enqcmd", opOperands{regA, mem}, 0},
	{0xf3, 2, 0xf8, anyDigit, memMod, 0, "enqcmds", opOperands{regA, mem}, 0},
	{0, 2, 0xf9, anyDigit, memMod, 0, "movdiri", opOperands{rmY, regY}, 4},
	{0x66, 2, 0xcf, anyDigit, anyMod, anyDigit, "gf2p8mulb", opOperands{regX, rmX}, 16},
	{0x66, 3, 0xce, anyDigit, anyMod, anyDigit, "gf2p8affineqb", opOperands{regX, rmX, immB}, 16},
	{0x66, 3, 0xcf, anyDigit, anyMod, anyDigit, "gf2p8affineinvqb", opOperands{regX, rmX, immB}, 16},
	{0, 2, 0xfc, anyDigit, memMod, 0, "aadd", opOperands{rmY, regY}, 4},
	{0x66, 2, 0xfc, anyDigit, memMod, 0, "aand", opOperands{rmY, regY}, 4},
	{0xf2, 2, 0xfc, anyDigit, memMod, 0, "aor", opOperands{rmY, regY}, 4},
	{0xf3, 2, 0xfc, anyDigit, memMod, 0, "axor", opOperands{rmY, regY}, 4},

	// Instructions that are undefined on purpose. They have operands nevertheless.
	{0, 1, 0xb9, anyDigit, anyMod, anyDigit, "ud1", opOperands{regV, rmV}, 4},
	{0, 1, 0xff, anyDigit, anyMod, anyDigit, "ud0", opOperands{regV, rmV}, 4},
}

// nopOpcodes are the opcodes of long nops in map 0F. Their operand is not used.
var nopOpcodes = [...]byte{0x18, 0x19, 0x1c, 0x1d, 0x1e, 0x1f}

// A spelledMissing is a missingOp with its two spellings: the first without REX.W, the second with it.
type spelledMissing struct {
	*missingOp
	spell [2]spelling
}

// missingIndex has the missingOps by opcode map and opcode.
var missingIndex = func() (index [4][256][]spelledMissing) {
	for i := range missingOps {
		f := &missingOps[i]
		index[f.mapNo][f.opcode] = append(index[f.mapNo][f.opcode], spelledMissing{f, spellMissing(f)})
	}
	// Entries that require a 66 prefix come first, because the other entries match with this prefix as well. For
	// example, 66 0F 38 F6 is adcx, but 0F 38 F6 is wrss.
	for m := range index {
		for _, found := range index[m] {
			slices.SortStableFunc(found, func(a, b spelledMissing) int { return cmp.Compare(b.pp, a.pp) })
		}
	}
	return index
}()

func spellMissing(f *missingOp) [2]spelling {
	narrow := spelling{att: f.name, intel: f.name}
	wide := narrow
	switch f.name {
	case "rdssp", "incssp", "wruss", "wrss":
		narrow = spelling{att: f.name + "d", intel: f.name + "d", mem: noSize}
		wide = spelling{att: f.name + "q", intel: f.name + "q", mem: noSize}
	case "ptwrite":
		narrow.suffix, wide.suffix = suffixMemory, suffixMemory
	}
	return [2]spelling{narrow, wide}
}

// decodeMissing decodes an instruction that is in missingOps, or a long nop. It returns false for all other
// instructions.
func (x *x86) decodeMissing() bool {
	n := opcodeLen(x.op)
	if n == 1 || len(x.op) < n {
		return false
	}
	mapNo := 1
	if n == 3 {
		mapNo = 2 + int(x.op[1]>>1&1&(x.op[1]>>3)) // the map: 2 after the byte 38, 3 after 3A
	}
	found := missingIndex[mapNo][x.op[n-1]]
	for i := range found {
		if f := &found[i]; x.matches(f.missingOp, n) {
			x.spell = &f.spell[x.rex>>3&1]
			return x.apply(f.missingOp, n)
		}
	}
	return mapNo == 1 && x.decodeNop(n)
}

// matches reports whether the instruction is f. The instruction's opcode has n bytes.
func (x *x86) matches(f *missingOp, n int) bool {
	pp := byte(0)
	switch {
	case x.rep >= 0:
		pp = x.code[x.rep]
	case x.data >= 0 && f.pp == prefixData:
		pp = prefixData
	}
	if pp != f.pp {
		return false
	}
	if f.digit == anyDigit && f.mod == anyMod && f.operands[0] == 0 {
		return true
	}
	if len(x.op) <= n {
		return false
	}
	modrm := x.op[n]
	reg := modrm >= 0xc0
	switch {
	case f.digit != anyDigit && byte(f.digit) != modrm>>3&7:
		return false
	case f.mod == regMod && !reg, f.mod == memMod && reg:
		return false
	}
	return !reg || f.rm == anyDigit || byte(f.rm) == modrm&7
}

// apply sets the operands and the length of the instruction in x, as f describes them. The opcode has n bytes. The
// caller sets the spelling. The result is false if the input is too short for the operands.
func (x *x86) apply(f *missingOp, n int) bool {
	x.args = x86asm.Args{}
	x.memBytes = int(f.bytes)
	x.len = x.n + n
	switch f.pp {
	case prefixData:
		x.use(x.data)
	case prefixRepe, prefixRepne:
		x.use(x.rep)
	}
	if f.digit != anyDigit || f.operands[0] != 0 {
		m := x.readMem(n, x.rex)
		if m == 0 {
			return false
		}
		x.len += m
	}
	for i, form := range f.operands {
		if form == 0 {
			break
		}
		if form == immB {
			at := x.len - x.n
			if at >= len(x.op) {
				return false
			}
			x.args[i] = x86asm.Imm(x.op[at])
			x.len++
			continue
		}
		x.args[i] = x.formArg(form, x.op[n])
		x.extendForm(i, form)
	}
	return true
}

// decodeNop decodes long nops. x86asm knows only a few of them.
func (x *x86) decodeNop(n int) bool {
	for _, b := range nopOpcodes {
		if b != x.op[n-1] || len(x.op) <= n || b == 0x18 && x.op[n]>>3&7 < 4 && x.op[n] < 0xc0 {
			continue
		}
		m := x.readMem(n, x.rex)
		if m == 0 {
			return false
		}
		x.spell = &x.names[x86asm.NOP]
		x.len = x.n + n + m
		x.args = x86asm.Args{x.formArg(rmV, x.op[n])}
		x.extendForm(0, rmV)
		x.memBytes = x.width(rmV) / 8
		return true
	}
	return false
}

// width returns the width in bits of a general register of form f. If prefixes determine the width, they are marked
// as used.
func (x *x86) width(f operandForm) int {
	switch f {
	case regQ, rmQ:
		return 64
	case regA, rmA:
		x.use(x.addr)
		if x.addr >= 0 {
			return 32
		}
		return 64
	case regV, rmV:
		if x.rex&rexW == 0 && x.data >= 0 {
			x.use(x.data)
			return 16
		}
	}
	if x.rex&rexW != 0 {
		return 64
	}
	return 32
}

// impliedRegs are the registers of the forms impEAX to impRAX.
var impliedRegs = map[operandForm]x86asm.Reg{
	impEAX: x86asm.EAX, impECX: x86asm.ECX, impEDX: x86asm.EDX, impEBX: x86asm.EBX,
	impRAX: x86asm.RAX,
}

// formArg returns the operand of form f. It does not handle immediates. For an operand in memory it returns an empty
// Mem, because x.mem describes the operand.
func (x *x86) formArg(f operandForm, modrm byte) x86asm.Arg {
	if r, ok := impliedRegs[f]; ok {
		return r
	}
	if x.rex != 0 {
		x.use(int8(x.n - 1))
	}
	number := modrm>>3&7 | x.rex&rexR<<1
	if f >= rmY {
		if modrm < 0xc0 {
			x.use(x.addr)
			if x.rex&rexW != 0 && x.memBytes == 4 {
				x.memBytes = 8
			}
			return x86asm.Mem{}
		}
		number = modrm&7 | x.rex&rexB<<3
	}
	if f == regX || f == rmX {
		return x86asm.X0 + x86asm.Reg(number)
	}
	first := x86asm.EAX
	switch x.width(f) {
	case 16:
		first = x86asm.AX
	case 64:
		first = x86asm.RAX
	}
	return first + x86asm.Reg(number)
}
