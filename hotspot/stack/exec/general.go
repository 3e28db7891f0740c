package exec

// understand finds out what an instruction with an opcode of one byte does, after its operands were read. It reports
// whether the bytes are an instruction.
func (d *decoder) understand(b byte) bool {
	in := &d.in
	switch {
	case b >= 0x50 && b < 0x58 && !d.data:
		in.op, in.src = opPush, d.opcodeReg(b)
	case b >= 0x58 && b < 0x60 && !d.data:
		in.op, in.dst = opPop, d.opcodeReg(b)
	case b >= 0x50 && b < 0x60: // push and pop of 16 bits
		d.write(rsp)
		d.write(d.opcodeReg(b))
	case b >= 0x70 && b < 0x80, b >= 0xe0 && b < 0xe4:
		in.op, in.rel = opCondJump, in.imm
	case b >= 0x91 && b < 0x98, b == 0x90 && d.rex&rexB != 0: // xchg with rax
		d.swap(rax, d.opcodeReg(b))
	case b >= 0xb0 && b < 0xb8:
		d.write(d.general(d.opcodeReg(b), byteSized))
	case b >= 0xb8 && b < 0xc0:
		d.write(d.opcodeReg(b))
	case b >= 0x80 && b <= 0x83, b == 0x8f, b == 0xc6, b == 0xc7, b >= 0xf6 && b <= 0xf7, b >= 0xfe:
		return d.group(b)
	default:
		d.single(b)
	}
	return true
}

// single handles opcodes that encode only one instruction each.
func (d *decoder) single(b byte) {
	in := &d.in
	switch b {
	case 0x68, 0x6a, 0x9c:
		in.op = opPushOther
	case 0x9d:
		in.op = opDrop
	case 0x87:
		if d.rm != noReg {
			d.swap(d.reg, d.rm)
		} else if d.wide() {
			*in = inst{op: opSwapMem, dst: d.reg, mem: in.mem}
		}
	case 0x89, 0x8b:
		d.move(b)
	case 0x8d:
		if d.wide() && d.rm == noReg {
			*in = inst{op: opLea, dst: d.reg, mem: in.mem}
		}
	case 0xc2, 0xc3:
		in.op = opReturn
	case 0xc8:
		in.op = opEnter
	case 0xc9:
		in.op = opLeave
	case 0xe8:
		in.op, in.rel = opCall, in.imm
	case 0xe9, 0xeb:
		in.op, in.rel = opJump, in.imm
	case 0xca, 0xcb, 0xcf: // far returns, which HotSpot does not have
		in.op = opReturn
	case 0xcc, 0xf4:
		in.op = opStop
	}
}

// move handles mov between two registers, or between a register and memory.
func (d *decoder) move(b byte) {
	if !d.wide() {
		return
	}
	m := d.in.mem
	switch {
	case d.rm == noReg && b == 0x89:
		d.in = inst{op: opStore, src: d.reg, mem: m}
	case d.rm == noReg:
		d.in = inst{op: opLoad, dst: d.reg, mem: m}
	case b == 0x89:
		d.in = inst{op: opMove, dst: d.rm, src: d.reg, mem: m}
	default:
		d.in = inst{op: opMove, dst: d.reg, src: d.rm, mem: m}
	}
}

// swap handles xchg of two registers.
func (d *decoder) swap(a, b reg) {
	if d.wide() {
		d.in = inst{op: opSwap, dst: a, src: b, mem: d.in.mem}
		return
	}
	d.write(a)
	d.write(b)
}

// group handles opcodes whose ModRM byte has a part of the opcode. It reports whether the bytes are an instruction.
func (d *decoder) group(b byte) bool {
	in := &d.in
	switch b {
	case 0x80, 0x81, 0x83:
		d.immediateOperation(b)
	case 0x8f:
		if d.digit != 0 {
			return false // AMD's XOP prefix
		}
		// A pop to memory computes the address with the new rsp. Such a slot is not tracked.
		d.in.op, d.in.mem.base = opDrop, noReg
		if d.rm != noReg {
			*in = inst{op: opPop, dst: d.rm, mem: memory{base: noReg}}
		}
	case 0xc6, 0xc7:
		if d.digit == 7 && d.rm&7 == rax && d.rm != noReg { // xabort, xbegin
			in.writes = 1 << rax
			if b == 0xc7 {
				in.op, in.rel = opCondJump, in.imm
			}
			return true
		}
		return d.digit == 0
	case 0xf6, 0xf7:
		d.unary(b)
	case 0xfe:
		return d.digit < 2
	case 0xff:
		return d.groupFF()
	}
	return true
}

// immediateOperation handles add, or, adc, sbb, and, sub, xor and cmp with an immediate operand.
func (d *decoder) immediateOperation(b byte) {
	in := &d.in
	if d.digit == 7 { // cmp
		in.writes, in.store = 0, 0
	}
	if b == 0x80 || !d.wide() || d.rm == noReg {
		return
	}
	switch {
	case d.digit == 0:
		*in = inst{op: opAdd, dst: d.rm, imm: in.imm, mem: in.mem}
	case d.digit == 5 && in.imm != -1<<31:
		*in = inst{op: opAdd, dst: d.rm, imm: -in.imm, mem: in.mem}
	case d.digit == 4 && in.imm < 0:
		*in = inst{op: opAlign, dst: d.rm, src: d.rm, imm: in.imm, mem: in.mem}
	}
}

// unary handles test, not, neg, mul and div. test has an immediate operand, which is read here.
func (d *decoder) unary(b byte) {
	f := form(0)
	if b == 0xf6 {
		f = byteSized
	}
	switch {
	case d.digit < 2 && b == 0xf6:
		d.immediate(imm8)
	case d.digit < 2:
		d.immediate(imm32)
	case d.digit < 4 && d.rm != noReg:
		d.write(d.general(d.rm, f))
	case d.digit < 4:
		d.in.store = d.width(f)
	default:
		d.in.writes |= 1<<rax | 1<<rdx
	}
}

// groupFF handles inc, dec, call, jmp and push. It reports whether the bytes are an instruction.
func (d *decoder) groupFF() bool {
	in := &d.in
	switch d.digit {
	case 0, 1:
		switch {
		case d.rm == noReg:
			in.store = d.width(0)
		case d.wide():
			*in = inst{op: opAdd, dst: d.rm, imm: 1 - 2*int32(d.digit), mem: in.mem}
		default:
			d.write(d.rm)
		}
	case 2, 3:
		in.op = opCallOther
	case 4, 5:
		in.op = opJumpOther
	case 6:
		in.op = opPushOther
		if d.rm != noReg && !d.data {
			in.op, in.src = opPush, d.rm
		}
	}
	return d.digit != 7
}

// escaped handles the opcodes after 0F. It reports whether the bytes are an instruction.
func (d *decoder) escaped() bool {
	b := d.byte()
	switch b {
	case 0x38:
		d.operands(threeByte[d.byte()])
		return true
	case 0x3a:
		d.operands(threeByteImm[d.byte()])
		return true
	}
	f := twoByte[b]
	if f&invalid != 0 {
		return false
	}
	switch b {
	case 0x1e: // rdssp; otherwise a hint that has no effect
		if d.rep != prefixRep || d.peek() < 0xc0 || d.peek()>>3&7 != 1 {
			f = modRM
		}
	case 0x7e: // movq to a vector register
		if d.rep == prefixRep {
			f = modRM
		}
	case 0xba: // bt
		if d.peek()>>3&7 == 4 {
			f = modRM | imm8
		}
	}
	d.operands(f)
	d.understandEscaped(b)
	return true
}

// peek returns the next byte, or 0 at the end of the code.
func (d *decoder) peek() byte {
	if d.pos < len(d.code) {
		return d.code[d.pos]
	}
	return 0
}

// understandEscaped finds out what an instruction with an opcode after 0F does.
func (d *decoder) understandEscaped(b byte) {
	in := &d.in
	switch {
	case b == 0x0b:
		in.op = opStop
	case b == 0x05: // syscall
		d.write(r11)
	case b == 0x07: // sysret
		in.op = opStop
	case b >= 0x80 && b < 0x90:
		in.op, in.rel = opCondJump, in.imm
	case b == 0xa0, b == 0xa8:
		in.op = opPushOther
	case b == 0xa1, b == 0xa9:
		in.op = opDrop
	case b >= 0xc8 && b < 0xd0:
		d.write(d.opcodeReg(b))
	case in.store == 0:
	case b == 0x11 && d.rep == prefixRep:
		in.store = 4
	case b == 0x11 && d.rep == prefixRepne, b == 0x13, b == 0x17, b == 0xd6:
		in.store = 8
	case b == 0x11, b == 0x29, b == 0x2b, b == 0x7f, b == 0xe7, b == 0xc7:
		in.store = 16
	case b == 0xae:
		in.store = controlStores[d.digit]
	}
}

// controlStores[reg] is the number of bytes that an instruction with the opcode 0F AE writes to memory, where reg is
// the field of ModRM: 0 is fxsave, 3 is stmxcsr, 4 is xsave, and 6 is xsaveopt.
var controlStores = [8]uint16{0: 512, 3: 4, 4: 4096, 6: 4096}
