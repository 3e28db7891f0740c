package amd64

// everyREX2 returns the opcodes of the one-byte map and of map 0F, each with a REX2 prefix.
func everyREX2() []byte {
	var s slots
	before := [][]byte{{}, {prefixData}, {prefixRepe}}
	for _, payload := range []byte{0x08, 0x19, 0x76} { // W; B4 W B3; R4 X4 B4 R3 X3
		for _, m := range []byte{0, rex2Map0F} {
			for op := range 256 {
				if isPrefix(byte(op)) && m == 0 {
					continue
				}
				for _, p := range before {
					for reg := range byte(8) {
						o := operands(reg)[(int(reg)+op)%3]
						s.add(p, []byte{rex2Prefix, m | payload, byte(op)}, o)
					}
				}
			}
		}
	}
	return s
}

// apxForms are EVEX prefixes of APX instructions, with the opcode map and the field pp still to be filled in. Some use
// the registers r16 to r31, and all combinations of ND and NF occur. The last two are conditions of ccmp.
var apxForms = [][3]byte{
	{0xf0, 0x7c, 0x08}, // no bit
	{0xf0, 0x7c, 0x0c}, // NF
	{0xf0, 0x4c, 0x18}, // ND, %r6
	{0xc8, 0x34, 0x14}, // ND, NF, %r25, B4, R4
	{0x70, 0x78, 0x08}, // R3, X4
	{0x98, 0x6c, 0x12}, // X3, B3, B4, ND, %r18, a bit of the mask
	{0xf0, 0x54, 0x0a}, // condition t, flags of and zf
	{0xd8, 0x2c, 0x03}, // condition ae, flags sf and cf, B3, B4
}

// everyMap4 returns the opcodes of the EVEX maps 4 and 7.
func everyMap4() []byte {
	var s slots
	for _, m := range []byte{4, 7} {
		for op := range 256 {
			if m == 7 && op != 0xf6 && op != 0xf8 {
				continue
			}
			for pp := range byte(4) {
				for w := range byte(2) {
					for i, form := range apxForms {
						for reg := range byte(8) {
							o := operands(reg)[(int(reg)+i+op)%3]
							s.add([]byte{evex, form[0] | m, form[1] | w<<7 | pp, form[2], byte(op)}, o)
						}
					}
				}
			}
		}
	}
	return s
}

// everyEGPR returns the opcodes of the other EVEX maps, with bits that select the registers r16 to r31.
func everyEGPR() []byte {
	var s slots
	for _, m := range []byte{1, 2, 3, 5, 6} {
		for op := range 256 {
			for pp := range byte(4) {
				for wl := range byte(4) {
					reg := byte(op) + pp&6
					s.add([]byte{evex, 0xc8 | m, wl>>1<<7 | 0x7c | pp, 0x08 | wl&1<<6, byte(op)}, operands(reg & 7)[0]) // R4, B4
					s.add([]byte{evex, 0xf8 | m, wl>>1<<7 | 0x3c | pp, 0x00 | wl&1<<6, byte(op)}, operands(reg & 7)[0]) // B4, %r24
					s.add([]byte{evex, 0xd8 | m, wl>>1<<7 | 0x78 | pp, 0x0c | wl&1<<6, byte(op)}, operands(reg & 7)[2]) // B4, X4, NF
				}
			}
		}
	}
	return s
}
