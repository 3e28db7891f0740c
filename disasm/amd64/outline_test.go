package amd64

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/amd64/lengths"
	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/disasm/disasmtest"
)

// sameOutline checks that Outline finds the same instructions as Decode. It returns how many of them have no text.
func sameOutline(t *testing.T, code []byte, pc uint64) (without int) {
	t.Helper()
	full, got := Decode(asm.ATT, code, pc), Outline(asm.ATT, code, pc)
	if len(full) != len(got) {
		t.Fatalf("% x: %d instructions, want %d", code[:min(len(code), 64)], len(got), len(full))
	}
	for i, want := range full {
		if got[i].Text == "" {
			without++
		}
		sameInst(t, code[want.Addr-pc:min(int(want.Addr-pc)+15, len(code))], got[i], want)
	}
	return without
}

// sameInst checks that got, of Outline, is the instruction want, and that it lacks its text only if it may.
func sameInst(t *testing.T, code []byte, got, want asm.Inst) {
	t.Helper()
	in := got
	if in.Text == "" {
		if strings.Contains(want.Text, "nop") || strings.HasPrefix(want.Text, "xchg") || strings.HasPrefix(want.Text,
			"data16") || strings.HasPrefix(want.Text, "hlt") || strings.HasPrefix(want.Text, "ud") ||
			strings.HasPrefix(want.Text, "int3") {
			t.Fatalf("%q has no text", want.Text)
		}
		in.Text = want.Text
	}
	if in != want {
		t.Fatalf("% x: got %+v, want %+v", code, got, want)
	}
}

// TestOutline compares Outline with Decode for each opcode of one and two bytes with each ModRM byte, with prefixes
// and without. Where Outline declines an instruction it calls what Decode calls, so only the others are compared.
func TestOutline(t *testing.T) {
	const pc = 0x7f0000001000
	rest := []byte{0x24, 0x85, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0x90}
	compared := 0
	for _, prefix := range []string{"", "\x66", "\xf2", "\xf3", "\xf0"} {
		for _, rex := range []string{"", "\x40", "\x48", "\x4f"} {
			for op := range 512 {
				start := []byte(prefix + rex)
				if op >= 256 {
					start = append(start, 0x0f)
				}
				for modRM := range 256 {
					for _, sib := range []byte{0x24, 0x25, 0x64, 0x85, 0xe4} {
						code := append(append(slices.Clip(start), byte(op), byte(modRM), sib), rest...)
						got, ok := lengths.Decode(code, pc)
						if !ok {
							continue
						}
						compared++
						sameInst(t, code, got, Decode(asm.ATT, code, pc)[0])
					}
				}
			}
		}
	}
	t.Logf("%d encodings of common instructions", compared)
	if compared < 100_000 {
		t.Error("too few: nothing is compared")
	}
}

// TestOutlineOfCode compares them for HotSpot's code, and for bytes that are not code. Of the code, most instructions
// must have no text, otherwise Outline saves nothing.
func TestOutlineOfCode(t *testing.T) {
	for name, blobs := range disasmtest.Blobs(t) {
		all, without := 0, 0
		for _, b := range blobs {
			all += len(Decode(asm.ATT, b.Code, b.PC))
			without += sameOutline(t, b.Code, b.PC)
		}
		t.Logf("%s: %d of %d instructions without a text", name, without, all)
		if without < all/2 {
			t.Errorf("%s: only %d of %d instructions without a text", name, without, all)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		code := make([]byte, random.IntN(40))
		for i := range code {
			code[i] = byte(random.Uint32())
		}
		sameOutline(t, code, random.Uint64())
	}
}

func FuzzOutline(f *testing.F) {
	disasmtest.AddSeeds(f)
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) { sameOutline(t, code, pc) })
}
