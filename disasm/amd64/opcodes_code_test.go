package amd64

// slot is the size of the space for each instruction in the generated code. It is filled with nops, so every slot
// starts an instruction.
const slot = 24

// slots is generated code.
type slots []byte

func (s *slots) add(parts ...[]byte) {
	start := len(*s)
	for _, p := range parts {
		*s = append(*s, p...)
	}
	for len(*s) < start+slot {
		*s = append(*s, 0x90)
	}
}

// operands are ModRM bytes with the bytes after them: register, (%rcx), disp8(%rsp), disp32(%rip).
func operands(reg byte) [][]byte {
	reg <<= 3
	return [][]byte{
		{0xc1 | reg, 0x12, 0x34, 0x56, 0x78},
		{0x01 | reg, 0x92, 0x34, 0x56, 0x78},
		{0x44 | reg, 0x24, 0x40, 0x12, 0x34},
		{0x05 | reg, 0x10, 0x20, 0x30, 0x00, 0x05},
	}
}

func everyLegacy() []byte {
	var s slots
	maps := [][]byte{{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}}
	before := [][]byte{{}, {prefixData}, {prefixRepe}}
	for _, m := range maps {
		for op := range 256 {
			if len(m) == 0 && (isPrefix(byte(op)) && op != rex2Prefix || op == 0x0f || op == vex2 || op == vex3 || op == evex) {
				continue
			}
			for _, p := range before {
				for reg := range byte(8) {
					for _, o := range operands(reg) {
						s.add(p, m, []byte{byte(op)}, o)
					}
				}
			}
		}
	}
	return s
}

func everyVEX() []byte {
	var s slots
	for m := byte(1); m <= 3; m++ {
		for op := range 256 {
			for pp := range byte(4) {
				for wl := range byte(4) {
					for _, reg := range []byte{2, 7} {
						for _, o := range operands(reg) {
							vvvv := byte(0x78) // none
							if reg&1 == 0 {
								vvvv = 0x48
							}
							s.add([]byte{vex3, 0xe0 | m, wl>>1<<7 | vvvv | wl&1<<2 | pp, byte(op)}, o)
						}
					}
				}
			}
		}
	}
	return s
}

// everyEVEX returns the opcodes of maps 0F, 0F38 and 0F3A, and of maps 5 and 6 (half precision).
func everyEVEX() []byte {
	var s slots
	for _, m := range []byte{1, 2, 3, 5, 6} {
		for op := range 256 {
			for pp := range byte(4) {
				for wl := range byte(8) {
					for _, p2 := range []byte{0x08, 0x1b} {
						for _, o := range operands(byte(op) & 7)[:2] {
							vvvv := byte(0x7c)
							if p2&1 != 0 {
								vvvv = 0x4c
							}
							s.add([]byte{evex, 0xf0 | m, wl>>2<<7 | vvvv | pp, p2 | wl&3<<5, byte(op)}, o)
						}
					}
				}
			}
		}
	}
	return s
}
