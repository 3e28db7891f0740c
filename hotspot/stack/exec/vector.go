package exec

// vector handles instructions with a VEX or EVEX prefix, which begins with the byte b. It reports whether the bytes
// are an instruction.
func (d *decoder) vector(b byte) bool {
	d.rex, d.data, d.rep = 0, false, 0
	mapNo := byte(1)
	var last byte // the byte with the fields W, vvvv and pp
	switch b {
	case 0xc5:
		last = d.byte()
		d.rex = ^last >> 5 & rexR
		last &= 0x7f
	default:
		first := d.byte()
		last = d.byte()
		d.rex = ^first >> 5 & (rexR | rexX | rexB)
		mapNo = first & 31
		if b == 0x62 {
			mapNo = first & 7
		}
		d.rex |= last >> 4 & rexW
		if b == 0x62 {
			d.high = ^first>>2&rexR | ^last>>1&rexX | first>>3&rexB
		}
	}
	full, vvvv := uint16(16)<<(last>>2&1), ^last>>3&15
	if b == 0x62 {
		third := d.byte()
		full = 16 << (third >> 5 & 3)
		vvvv |= ^third << 1 & 16
		if mapNo == 4 {
			return d.promoted(d.byte(), last&3, third&0x10 != 0, third&4 != 0, vvvv)
		}
	}
	if int(mapNo) >= len(vectorMaps) || vectorMaps[mapNo] == nil {
		return false
	}
	op := d.byte()
	f := vectorMaps[mapNo][op]
	if f&invalid != 0 {
		return false
	}
	switch pp := last & 3; {
	case op == 0x7e && pp == 2 && mapNo == 5: // vmovw between vector registers, or to memory
		f = modRM | storesRM
	case op == 0x7e && pp == 2: // movq to a vector register
		f = modRM
	case op&^1 == 0x6c && pp >= 2 && mapNo == 5: // vcvttss2sis
		f = modRM | writesReg
	}
	if mapNo == 2 && (op == 0xf3 || op == 0xf6) { // blsr, mulx
		d.write(vvvv)
	}
	d.operands(f)
	if d.in.store != 0 && !isGeneral(mapNo, op) {
		d.vectorStore(mapNo, op, last&3, full, b == 0x62)
	}
	return true
}

// vectorStore corrects the number of bytes that a vector instruction stores and, if the instruction has an EVEX prefix,
// the displacement of their address. pp is the field of the prefix that stands for one of the older prefixes: 2 for F3,
// 3 for F2.
func (d *decoder) vectorStore(mapNo, op, pp byte, full uint16, evex bool) {
	in := &d.in
	switch {
	case op == 0x11 && pp == 2:
		in.store = 4
	case op == 0x11 && pp == 3, op == 0x13, op == 0x17, op == 0xd6:
		in.store = 8
	case mapNo == 3 && op >= 0x18:
		in.store = full / 2
	case op != 0x7e && mapNo != 3:
		in.store = full
	}
	if evex && in.mem.disp == int32(int8(in.mem.disp)) && in.mem.disp != 0 {
		// EVEX multiplies a displacement of one byte by the size of the operand. Only operands that are whole vectors
		// are handled; the address of any other becomes unknown.
		if in.store != full {
			in.mem.base = noReg
		}
		in.mem.disp *= int32(full)
	}
}

// isGeneral reports whether an instruction that writes memory is one of those that do not store a vector: kmov and
// cmpccxadd.
func isGeneral(mapNo, op byte) bool { return mapNo == 1 && op == 0x91 || mapNo == 2 && op>>4 == 0xe }
