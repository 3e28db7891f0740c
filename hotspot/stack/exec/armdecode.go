package exec

import (
	"encoding/binary"
	"math/bits"
)

// An armDecoder decodes one instruction of aarch64 (Arm Architecture Reference Manual, section C4, "A64 Instruction Set
// Encoding").
type armDecoder struct {
	x  uint32
	in inst
}

// decodeARM64 decodes the instruction that code begins with. If the code does not begin with one, the result is an
// opBad.
func decodeARM64(code []byte) inst {
	if len(code) < armLen {
		return inst{op: opBad, len: uint8(max(len(code), 1))}
	}
	d := armDecoder{x: binary.LittleEndian.Uint32(code)}
	d.in.mem.base = noReg
	d.in.len = armLen
	switch d.field(25, 4) {
	case 0b1000, 0b1001:
		d.immediate()
	case 0b1010, 0b1011:
		d.branch()
	case 0b0100, 0b0110, 0b1100, 0b1110:
		d.memory()
	case 0b0101, 0b1101:
		d.register()
	case 0b0111, 0b1111:
		d.float()
	case 0b0010:
		d.scalable()
	case 0b0000:
		if d.x>>31 == 0 { // udf; otherwise SME, which HotSpot does not use
			d.in.op = opStop
		}
	default:
		d.in.op = opBad
	}
	return d.in
}

// field returns n bits of the instruction. The parameter low is the number of the lowest one.
func (d *armDecoder) field(low, n int) uint32 { return d.x >> low & (1<<n - 1) }

// signed returns n bits of the instruction as a signed number.
func (d *armDecoder) signed(low, n int) int32 { return int32(d.x<<(32-n-low)) >> (32 - n) }

func (d *armDecoder) bit(n int) bool { return d.x>>n&1 != 0 }

// These functions return the numbers of registers in the instruction's fields. 31 stands for sp or xzr, depending on
// the instruction.
func (d *armDecoder) rd() reg { return reg(d.field(0, 5)) }
func (d *armDecoder) rn() reg { return reg(d.field(5, 5)) }
func (d *armDecoder) rm() reg { return reg(d.field(16, 5)) }

// write notes that the instruction overwrites the register r with a value that is not tracked. Register 31 is xzr here,
// which never changes.
func (d *armDecoder) write(r reg) {
	if r != sp {
		d.in.writes |= 1 << r
	}
}

// orZero returns the register of an operand in which 31 stands for xzr: noReg for 31, and otherwise r.
func orZero(r reg) reg {
	if r == sp {
		return noReg
	}
	return r
}

// immediate handles data processing with an immediate operand.
func (d *armDecoder) immediate() {
	rd := d.rd()
	setsFlags := d.field(29, 2) == 3 // of logical instructions: ands
	switch d.field(23, 3) {
	case 2: // add, sub
		n := int32(d.field(10, 12)) << (12 * d.field(22, 1))
		if d.bit(30) {
			n = -n
		}
		switch {
		case d.bit(29): // adds, subs
			d.write(rd)
		case !d.bit(31):
			d.in.writes |= 1 << rd
		default:
			d.in.op, d.in.dst, d.in.mem = opLea, rd, memory{d.rn(), n}
		}
	case 3: // addg, subg
		d.in.writes |= 1 << rd
	case 4:
		if setsFlags {
			d.write(rd)
			return
		}
		d.logical()
	case 5:
		d.moveWide()
	default: // adr, adrp, bit fields, extr
		d.write(rd)
	}
}

// logical handles the instructions AND, ORR and EOR with a constant. HotSpot's code aligns stack pointers by an AND,
// and "mov x8, #-32" is another name for an ORR.
func (d *armDecoder) logical() {
	mask, ok := bitMask(d.field(22, 1), d.field(10, 6), d.field(16, 6))
	n := int64(mask)
	small := ok && n >= -maxOffset && n <= maxOffset && d.bit(31)
	switch op := d.field(29, 2); {
	case op == 0 && small && n < 0:
		d.in.op, d.in.dst, d.in.src, d.in.imm = opAlign, d.rd(), d.rn(), int32(n)
	case op == 1 && small && d.rn() == sp: // xzr
		d.in.op, d.in.dst, d.in.imm = opConstant, d.rd(), int32(n)
	default:
		d.in.writes |= 1 << d.rd()
	}
}

// bitMask returns the constant of a logical instruction of 64 bits: copies of a rotated run of ones.
func bitMask(n, imms, immr uint32) (mask uint64, ok bool) {
	width := bits.Len32(n<<6 | ^imms&0x3f)
	if width < 2 {
		return 0, false
	}
	size := uint32(1) << (width - 1)
	ones, rotate := imms&(size-1)+1, immr&(size-1)
	if ones == size {
		return 0, false
	}
	element := uint64(1)<<ones - 1
	element = element>>rotate | element<<(size-rotate)
	for ; size < 64; size *= 2 {
		element &= 1<<size - 1
		element |= element << size
	}
	return element, true
}

// moveWide handles movz, movn and movk.
func (d *armDecoder) moveWide() {
	n := int64(d.field(5, 16)) << (16 * d.field(21, 2))
	op := d.field(29, 2)
	if op == 0 { // movn
		n = ^n
	}
	if d.rd() == sp || op == 3 || !d.bit(31) && (op == 0 || d.bit(22)) || n < -maxOffset || n > maxOffset {
		d.write(d.rd())
		return
	}
	d.in.op, d.in.dst, d.in.imm = opConstant, d.rd(), int32(n)
}

// branch handles branches, exceptions and system instructions.
func (d *armDecoder) branch() {
	in := &d.in
	switch {
	case d.x&0x7c000000 == 0x14000000: // b, bl
		in.rel = d.signed(0, 26)*armLen - armLen
		switch {
		case !d.bit(31):
			in.op = opJump
		case in.rel == 0:
			d.write(x30)
		default:
			in.op = opCall
		}
	case d.x&0x7c000000 == 0x34000000: // cbz, cbnz, tbz, tbnz
		in.op, in.rel = opCondJump, d.signed(5, 19)*armLen-armLen
		if d.bit(25) {
			in.rel = d.signed(5, 14)*armLen - armLen
		}
	case d.x&0xfe000000 == 0x54000000: // b.cond
		in.op, in.rel = opCondJump, d.signed(5, 19)*armLen-armLen
		if d.field(1, 3) == 7 { // b.al
			in.op = opJump
		}
	case d.x&0xfe000000 == 0xd6000000:
		d.branchRegister()
	case d.x&0xff000000 == 0xd4000000: // svc, brk, hlt, dcps1
		in.op = opStop
		if d.field(21, 3) == 0 {
			in.op = opOther
			d.write(0)
		}
	case d.x&0xfff00000 == 0xd5300000, d.x&0xfff80000 == 0xd5280000: // mrs, sysl
		d.write(d.rd())
	}
}

// branchRegister handles br, blr and ret, including the forms that check a signature.
func (d *armDecoder) branchRegister() {
	switch d.field(21, 2) {
	case 0:
		d.in.op = opJumpOther
	case 1:
		d.in.op = opCallOther
	case 2:
		d.in.op = opReturn
	default:
		d.in.op = opStop
	}
	if d.bit(23) && d.field(21, 2) >= 2 { // eret, drps
		d.in.op = opStop
	}
}

// register handles data processing with registers.
func (d *armDecoder) register() {
	in := &d.in
	rd, rn, rm := d.rd(), d.rn(), d.rm()
	switch {
	case d.x&0xffe0ffe0 == 0xaa0003e0 && rd != sp && rm != sp: // mov
		in.op, in.dst, in.src = opMove, rd, rm
	case d.x&0xbfe0fc00 == 0x8b000000 && rd != sp: // add, sub
		d.addRegister(orZero(rn), orZero(rm))
	case d.x&0xbfe0fc00 == 0x8b206000: // add, sub with uxtx, and perhaps sp
		d.addRegister(rn, orZero(rm))
	case d.x&0x7fe00000 == 0x0b200000, d.x&0x7fe00000 == 0x4b200000: // add, sub of an extended register
		in.writes |= 1 << rd
	case d.x&0x1fe00000 == 0x1a400000: // ccmp, ccmn
	case d.x&0x1fe07c00 == 0x1a000400, d.x&0x1fe03c00 == 0x1a000800: // rmif, setf8
	case d.x&0xfffe0000 == 0xdac10000 && (rd == x29 || rd == x30): // pacia, autia, xpaci: only the signature changes
	default:
		d.write(rd)
	}
}

// addRegister handles additions and subtractions of registers. One of the registers may have a known constant.
func (d *armDecoder) addRegister(a, b reg) {
	d.in.op, d.in.dst, d.in.src, d.in.src2, d.in.imm = opAdd2, d.rd(), a, b, 1
	if d.bit(30) {
		d.in.imm = -1
	}
}

// float handles instructions of floating-point numbers and vectors. Few write general registers.
func (d *armDecoder) float() {
	switch {
	case d.x&0x5f200c00 == 0x1e200000 && d.field(12, 4) == 0: // fcvtzs, fmov
		if op := d.field(16, 3); op != 2 && op != 3 && op != 7 {
			d.write(d.rd())
		}
	case d.x&0x5f3e0000 == 0x1e180000: // fcvtzs, fcvtzu to a fixed point number
		d.write(d.rd())
	case d.x&0xbfe0fc00 == 0x0e003c00, d.x&0xbfe0fc00 == 0x0e002c00: // umov, smov
		d.write(d.rd())
	}
}

// scalable handles instructions of SVE. Some of the encodings below write a vector register and not a general one. They
// are treated as if they wrote the general register with that number, which only makes its value unknown.
func (d *armDecoder) scalable() {
	switch {
	case d.x&0xffa0f800 == 0x04205000: // addvl, addpl
		d.in.writes |= 1 << d.rd()
	case d.x&0xff20e000 == 0x0420e000, // cntb, incb, sqincb
		d.x&0xffe0f800 == 0x04a05000, // rdvl
		d.x&0xff3fc200 == 0x25208000, // cntp
		d.x&0xff38f800 == 0x25288800, // incp, decp, sqincp
		d.x&0xff2ee000 == 0x0520a000: // lasta, clasta
		d.write(d.rd())
	}
}
