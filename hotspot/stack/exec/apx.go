package exec

// APX adds the registers r16 to r31, whose values are not tracked: C functions don't preserve them, and HotSpot keeps
// no address of a frame in them.
const (
	prefixREX2 = 0xd5
	tracked    = 16 // registers from this number on are not tracked
)

// afterREX2 handles an instruction with a REX2 prefix. It reports whether the bytes are an instruction.
func (d *decoder) afterREX2() bool {
	const map0F, jmpabs = 0x80, 0xa1
	payload := d.byte()
	d.rex = 0x40 | payload&15
	d.high = payload >> 4 & 7
	if payload&map0F != 0 {
		if row := d.peek() >> 4; row == 3 || row == 8 {
			return false
		}
		return d.escaped()
	}
	b := d.byte()
	if b == jmpabs {
		d.signed(8)
		d.in.op = opJumpOther
		return d.rex&rexW == 0 && !d.data && !d.addr && d.rep == 0
	}
	switch row := b >> 4; {
	case row == 4, row == 7, row == 0xa, row == 0xe, b == 0x0f, b == 0x62, b == 0xc4, b == 0xc5, oneByte[b]&invalid != 0:
		return false
	}
	d.operands(oneByte[b])
	return d.understand(b)
}

// untrack changes an instruction that uses the registers r16 to r31 so that their values, which are not tracked,
// count as unknown.
func (in *inst) untrack() {
	if in.mem.base >= tracked {
		in.mem.base = noReg
	}
	to, from := in.dst < tracked, in.src < tracked
	switch in.op {
	case opLoad, opLea, opAdd:
		if !to {
			in.op = opOther
		}
	case opMove, opAlign:
		if !to || !from {
			in.op = opOther
			in.forget(in.dst)
		}
	case opSwap:
		if !to || !from {
			in.op = opOther
			in.forget(in.dst)
			in.forget(in.src)
		}
	case opStore:
		if !from {
			in.op, in.store = opOther, 8
		}
	case opSwapMem:
		if !to {
			in.op, in.store = opOther, 8
		}
	case opPush:
		if !from {
			in.op = opPushOther
		}
	case opPop:
		if !to {
			in.op = opDrop
		}
	}
}

// forget notes that the instruction overwrites the register r with a value that is not tracked.
func (in *inst) forget(r reg) {
	if r < tracked {
		in.writes |= 1 << r
	}
}

// map4 has the forms of the opcodes in the EVEX map 4, without ND. With ND, the register vvvv is written instead of the
// first operand. The form of an opcode does not depend on the prefixes 66, F3 and F2, except for setcc and urdmsr.
var map4 = formsOf(invalid, append(promotedArithmetic(), []span{
	{0x24, 0x24, modRM | imm8 | writesRM}, {0xa5, 0xa5, modRM | writesRM}, // shld
	{0x2c, 0x2c, modRM | imm8 | writesRM}, {0xad, 0xad, modRM | writesRM}, // shrd
	{0x40, 0x4f, modRM | writesReg},                                 // cmov
	{0x60, 0x60, modRM | writesReg}, {0x61, 0x61, modRM | writesRM}, // movbe
	{0x65, 0x65, modRM | storesRM},             // wruss
	{0x66, 0x66, modRM | writesReg | storesRM}, // adcx, adox, wrss
	{0x69, 0x69, modRM | imm32 | writesReg}, {0x6b, 0x6b, modRM | imm8 | writesReg},
	{0x80, 0x80, modRM | imm8 | byteSized | writesRM}, {0x81, 0x81, modRM | imm32 | writesRM},
	{0x83, 0x83, modRM | imm8 | writesRM},
	{0x84, 0x84, modRM | byteSized}, {0x85, 0x85, modRM}, // ctest
	{0x88, 0x88, modRM | writesReg},
	{0x8a, 0x8a, modRM | byteSized | writesReg}, {0x8b, 0x8b, modRM | writesReg}, // movrs
	{0x8f, 0x8f, modRM},
	{0xaf, 0xaf, modRM | writesReg},
	{0xc0, 0xc0, modRM | imm8 | byteSized | writesRM}, {0xc1, 0xc1, modRM | imm8 | writesRM},
	{0xd0, 0xd0, modRM | byteSized | writesRM}, {0xd1, 0xd1, modRM | writesRM},
	{0xd2, 0xd2, modRM | byteSized | writesRM}, {0xd3, 0xd3, modRM | writesRM},
	{0xf0, 0xf1, modRM | writesReg}, {0xf2, 0xf2, modRM}, // crc32, invept
	{0xf4, 0xf5, modRM | writesReg},
	{0xf6, 0xf6, modRM | byteSized}, {0xf7, 0xf7, modRM},
	{0xf8, 0xf8, modRM}, {0xf9, 0xf9, modRM | storesRM}, {0xfc, 0xfc, modRM | storesRM}, // enqcmd, movdiri, aadd
	{0xfe, 0xfe, modRM | byteSized | writesRM}, {0xff, 0xff, modRM}, // inc, dec, push2
}...))

// promotedArithmetic returns the forms of add … ccmp that have no immediate operand.
func promotedArithmetic() (spans []span) {
	for _, s := range arithmetic() {
		if s.first&7 < 4 {
			spans = append(spans, s)
		}
	}
	return spans
}

// promoted handles the instructions of the EVEX map 4. pp, nd, nf and vvvv are fields of the prefix. The result is true
// if the bytes are an instruction.
func (d *decoder) promoted(op, pp byte, nd, nf bool, vvvv reg) bool {
	f := map4[op]
	switch {
	case f&invalid != 0:
		return false
	case op>>4 == 4 && pp == 3: // setcc, or setzu, which has no other destination
		f, nd = modRM|writesRM, false
	case op>>4 == 4 && nf && !nd: // cfcmov to memory
		f = modRM | writesRM
	case op == 0xf8 && pp == 3: // urdmsr
		f = modRM | writesRM
	case op == 0x69, op == 0x6b: // imul, or imulzu
		nd = false
	}
	d.rex |= 0x40
	d.data = pp == 1
	d.operands(f)
	in := &d.in
	switch op {
	case 0x80, 0x81, 0x83:
		d.immediateOperation(op)
	case 0xf6, 0xf7:
		d.unary(op)
	case 0x8f, 0xff:
		if op == 0x8f || d.digit == 6 {
			return d.pair(op, vvvv) && nd
		}
		if d.digit > 1 || !d.groupFF() {
			return false
		}
	}
	if nd {
		in.redirect(vvvv)
	}
	return true
}

// pair handles push2 and pop2. It reports whether the operands are valid.
func (d *decoder) pair(op byte, second reg) bool {
	d.in.op = opPush2
	if op == 0x8f {
		d.in.op = opPop2
		d.write(d.rm)
		d.write(second)
	}
	return d.rm != noReg
}

// redirect makes r the destination instead of the first operand, which becomes a source.
func (in *inst) redirect(r reg) {
	switch in.op {
	case opAdd:
		*in = inst{op: opLea, dst: r, mem: memory{base: in.dst, disp: in.imm}}
	case opAlign:
		in.dst = r
	default:
		in.writes, in.store = 0, 0
		in.forget(r)
	}
	in.untrack()
}
