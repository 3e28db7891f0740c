package exec

// memory handles loads and stores.
func (d *armDecoder) memory() {
	switch d.field(28, 2) {
	case 0:
		if d.bit(26) {
			d.structures()
		} else {
			d.exclusive()
		}
	case 1:
		d.literal()
	case 2:
		d.pair()
	case 3:
		d.single()
	}
}

// access sets the address of the operand in memory: the base register plus disp or, if post is true, the base register
// alone. If writeback is true, the instruction also adds disp to the base register.
func (d *armDecoder) access(disp int32, writeback, post bool) {
	m := memory{base: d.rn(), disp: disp}
	if writeback {
		d.in.update, d.in.imm = byConstant, disp
	}
	if post {
		m.disp = 0
	}
	d.in.mem = m
}

// single handles ldr, str and atomic operations.
func (d *armDecoder) single() {
	size := d.field(30, 2)
	vector, opc := d.bit(26), d.field(22, 2)
	bytes := uint16(1) << size
	if vector && opc >= 2 {
		bytes = 16
	}
	load := opc != 0
	if vector {
		load = opc&1 != 0
	}
	switch mode := d.field(10, 2); {
	case d.bit(24):
		scale := int32(bytes)
		d.access(int32(d.field(10, 12))*scale, false, false)
	case !d.bit(21): // 0: unscaled, 1: post-indexed, 2: unprivileged, 3: pre-indexed
		d.access(d.signed(12, 9), mode&1 != 0, mode == 1)
	case mode == 0:
		d.atomic(bytes)
		return
	case mode != 2: // ldraa
		d.write(d.rd())
		if mode == 3 {
			d.in.writes |= 1 << d.rn()
		}
		return
	}
	prefetch := size == 3 && opc == 2 && !vector
	wide := size == 3 && !vector
	switch {
	case prefetch:
		d.in.mem.base, d.in.update = noReg, noUpdate
	case load && vector:
	case load && wide && d.rd() != sp:
		d.in.op, d.in.dst = opLoad, d.rd()
	case load:
		d.write(d.rd())
	case wide && d.rd() != sp:
		d.in.op, d.in.src = opStore, d.rd()
	default:
		d.in.store = bytes
	}
}

// atomic handles ldadd, swp, ldapr and the like, whose address is in a register. HotSpot's code does not access its
// frame with them.
func (d *armDecoder) atomic(bytes uint16) {
	d.write(d.rd())
	d.access(0, false, false)
	d.in.store = bytes
	if d.field(12, 4) == 12 { // ldapr
		d.in.store = 0
	}
}

// pair handles ldp and stp.
func (d *armDecoder) pair() {
	size, vector, load := d.field(30, 2), d.bit(26), d.bit(22)
	bytes := int32(4) << (size >> 1)
	if vector {
		bytes = 4 << size
	}
	mode := d.field(23, 2) // 0: non-temporal, 1: post-indexed, 2: offset, 3: pre-indexed
	d.access(d.signed(15, 7)*bytes, mode&1 != 0, mode == 1)
	a, b := d.rd(), reg(d.field(10, 5))
	switch {
	case vector && load:
	case vector:
		d.in.store = uint16(2 * bytes)
	case load && size == 2:
		d.in.op, d.in.dst, d.in.dst2 = opLoadPair, orZero(a), orZero(b)
	case load:
		d.write(a)
		d.write(b)
	case size == 2:
		d.in.op, d.in.src, d.in.src2 = opStorePair, orZero(a), orZero(b)
	default:
		d.in.store = uint16(2 * bytes)
	}
}

// exclusive handles ldxr, stxr, ldar, stlr, cas and casp.
func (d *armDecoder) exclusive() {
	load := d.bit(22)
	d.access(0, false, false)
	ordered, pair := d.bit(23), d.bit(21)
	bytes := uint16(1) << d.field(30, 2)
	switch {
	case pair && (ordered || !d.bit(31)): // cas, casp: the register that is compared gets the old value
		d.write(d.rm())
		if !ordered {
			d.write(d.rm() | 1)
			bytes = 16
		}
		d.in.store = bytes
	case load:
		d.write(d.rd())
		if pair {
			d.write(reg(d.field(10, 5)))
		}
		d.in.mem.base = noReg
	default:
		d.in.store = bytes
		if pair {
			d.in.store = 2 * bytes
		}
		if !ordered {
			d.write(d.rm()) // the status
		}
	}
}

// literal handles loads relative to the pc, and other instructions in the same part of the encoding space: ldapur,
// stlur, setting and copying memory.
func (d *armDecoder) literal() {
	switch {
	case !d.bit(24):
		if !d.bit(26) && d.field(30, 2) != 3 { // 3: prfm
			d.write(d.rd())
		}
	case d.field(10, 2) == 0 && !d.bit(21) && !d.bit(26):
		d.access(d.signed(12, 9), false, false)
		if d.field(22, 2) == 0 {
			d.in.store = 1 << d.field(30, 2)
		} else {
			d.write(d.rd())
		}
	case d.field(10, 2) == 1 && !d.bit(21) && !d.bit(26): // cpyf, set
		for _, r := range []reg{d.rd(), d.rn(), d.rm()} {
			d.write(r)
		}
	case !d.bit(26): // ldg, stg: the base register may be updated
		d.in.writes |= 1 << d.rn()
		d.write(d.rd())
	}
}

// structures handles ld1 to st4, which may add a constant or a register to the base register.
func (d *armDecoder) structures() {
	single, post, load := d.bit(24), d.bit(23), d.bit(22)
	bytes := d.structureBytes(single)
	if !load {
		d.in.store = bytes
	}
	d.access(0, false, false)
	switch {
	case !post:
	case d.rm() == 31:
		d.in.update, d.in.imm = byConstant, int32(bytes)
	default:
		d.in.update, d.in.src = byRegister, d.rm()
	}
}

// structureBytes returns how many bytes ld1 to st4 load or store.
func (d *armDecoder) structureBytes(single bool) uint16 {
	if !single {
		registers := [16]uint16{0: 4, 2: 4, 4: 3, 6: 3, 7: 1, 8: 2, 10: 2}
		return registers[d.field(12, 4)] * 8 << d.field(30, 1)
	}
	opcode, size := d.field(13, 3), d.field(10, 2)
	count := uint16(opcode&1*2+d.field(21, 1)) + 1
	switch {
	case opcode>>1 == 3: // ld1r
		return count << size
	case opcode>>1 == 2 && size&1 != 0:
		return count * 8
	}
	return count << (opcode >> 1)
}
