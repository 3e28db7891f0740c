package disasm

import (
	"fmt"
	"testing"
)

// slot is the room of each instruction of the generated code; nops fill it, so that every slot starts an instruction.
const slot = 24

// TestEveryOpcode compares with objdump all opcodes with several prefixes and operands, most of which no compiler
// makes; the figures were 97, 96 and 94 % with objdump 2.40. What differs is in the main what is no instruction, and instructions of AMD and of Xeon Phi.
func TestEveryOpcode(t *testing.T) {
	for _, set := range []struct {
		name string
		code []byte
		want float64 // percent
	}{
		{"legacy", everyLegacy(), 95},
		{"vex", everyVEX(), 94},
		{"evex", everyEVEX(), 92},
	} {
		for syntax, label := range map[Syntax]string{ATT: "att", Intel: "intel"} {
			t.Run(set.name+"/"+label, func(t *testing.T) {
				t.Parallel()
				compareSlots(t, syntax, set.code, set.want)
			})
		}
	}
}

func compareSlots(t *testing.T, syntax Syntax, code []byte, percent float64) {
	const pc = 0x7f0000000000
	got, err := Decode(AMD64, syntax, code, pc)
	if err != nil {
		t.Fatal(err)
	}
	var n tally
	differences, example := map[string]int{}, map[string]string{}
	for _, w := range objdump(t, AMD64, syntax, []blob{{pc: pc, code: code}})[0] {
		if (w.Addr-pc)%slot != 0 {
			continue
		}
		text, ok := take(&got, w)
		equal := ok && text == squeeze(w.Text)
		n.add(equal)
		if !equal {
			key := firstWord(w.Text) + " / " + firstWord(text)
			differences[key]++
			off := w.Addr - pc
			example[key] = fmt.Sprintf("% x: want %q, got %q", code[off:off+uint64(w.Len)], squeeze(w.Text), text)
		}
	}
	t.Logf("equal to objdump: %v", n)
	if n.percent() < percent {
		logDifferences(t, differences, example)
		t.Errorf("want at least %v %%", percent)
	}
}

// slots collects instructions.
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

// operands are ModRM bytes with what follows: register, (%rcx), disp8(%rsp), disp32(%rip).
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
			if len(m) == 0 && isPrefix(byte(op)) || len(m) == 0 && (op == 0x0f || op == vex2 || op == vex3 || op == evex) {
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

func everyEVEX() []byte {
	var s slots
	for m := byte(1); m <= 3; m++ {
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
