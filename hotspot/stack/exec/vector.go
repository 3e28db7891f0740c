package exec

// vector handles instructions with a VEX or EVEX prefix, which begins with the byte b. It reports whether the bytes
// are an instruction.
func (d *decoder) vector(b byte) bool {
	d.rex, d.data, d.rep = 0, false, 0
	mapNo, size := byte(1), uint16(16)
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
	}
	size <<= last >> 2 & 1
	full := size
	if b == 0x62 {
		third := d.byte()
		size = 16 << (third >> 5 & 3)
		full = size
	}
	if int(mapNo) >= len(vectorMaps) || vectorMaps[mapNo] == nil {
		return false
	}
	op := d.byte()
	f := vectorMaps[mapNo][op]
	if op == 0x7e && last&3 == 2 { // movq to a vector register
		f = modRM
	}
	vvvv := ^last >> 3 & 15
	if mapNo == 2 && b != 0x62 && (op == 0xf3 || op == 0xf6) { // blsr, mulx
		d.write(vvvv)
	}
	d.operands(f)
	if d.in.store != 0 {
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
