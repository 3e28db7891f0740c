package disasm

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// checkInvariants decodes code in both syntaxes and fails unless the instructions cover it.
func checkInvariants(t *testing.T, code []byte, pc uint64) {
	t.Helper()
	var lens [2][]Inst
	for _, syntax := range []Syntax{ATT, Intel} {
		insts, err := Decode(AMD64, syntax, code, pc)
		if err != nil {
			t.Fatal(err)
		}
		at := pc
		for _, in := range insts {
			checkInst(t, in, code, in.Addr-pc)
			if in.Addr != at {
				t.Fatalf("% x: %+v: want address %#x", code, in, at)
			}
			at += uint64(in.Len)
		}
		if at-pc != uint64(len(code)) {
			t.Fatalf("% x: %d bytes decoded, want %d", code, at-pc, len(code))
		}
		lens[syntax] = insts
	}
	for i, in := range lens[ATT] {
		other := lens[Intel][i]
		if in.Len != other.Len || in.Kind != other.Kind || in.Target != other.Target || in.Bad != other.Bad {
			t.Fatalf("% x: %+v in one syntax, %+v in the other", code, in, other)
		}
	}
}

func checkInst(t *testing.T, in Inst, code []byte, off uint64) {
	t.Helper()
	switch {
	case in.Len < 1 || in.Len > 15:
		t.Fatalf("% x: %+v: length", code[off:], in)
	case in.Text == "" || strings.TrimSpace(in.Text) != in.Text || strings.ContainsAny(in.Text, "\n\t\x00"):
		t.Fatalf("% x: %+v: text", code[off:], in)
	case in.Bad && (in.Len != 1 || in.Kind != Plain || !strings.HasPrefix(in.Text, ".byte 0x")):
		t.Fatalf("% x: %+v: undecodable", code[off:], in)
	case in.Target != 0 && (in.Kind == Plain || in.Kind == Return):
		t.Fatalf("% x: %+v: target", code[off:], in)
	case strings.Contains(in.Text, "Op("), strings.Contains(in.Text, ",,"), strings.HasSuffix(in.Text, ","):
		t.Fatalf("% x: %+v: spelling", code[off:], in)
	}
}

func FuzzDecode(f *testing.F) {
	for _, blobs := range fixtures(f) {
		for i := 0; i < len(blobs); i += 16 {
			code := blobs[i].code
			f.Add(code[:min(len(code), 256)], blobs[i].pc)
		}
	}
	f.Add([]byte{evex, 0xf1, 0x7c, 0x48, 0x58, 0xc0}, uint64(0))
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) { checkInvariants(t, code, pc) })
}

// TestRandomBytes decodes what is not code at all, most of it behind prefixes that lead far into the decoder.
func TestRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	starts := [][]byte{{}, {vex2}, {vex3}, {evex}, {evex, 0xf1, 0x7d, 0x48}, {0x0f}, {0x66, 0x0f, 0x38}, {0xf2, 0x48, 0x0f, 0x3a}, {0xd9}, {0x67}}
	for i := range 20_000 {
		code := append([]byte(nil), starts[i%len(starts)]...)
		for len(code) < 24 {
			code = append(code, byte(random.Uint32()))
		}
		checkInvariants(t, code, 0x7f0523ef2180)
	}
}

// BenchmarkDecode decodes the machine code of one HotSpot log.
func BenchmarkDecode(b *testing.B) {
	blobs := fixtures(b)["jdk25-lean-none"]
	bytes, insts := 0, 0
	for _, blob := range blobs {
		bytes += len(blob.code)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		for _, blob := range blobs {
			all, err := Decode(AMD64, ATT, blob.code, blob.pc)
			if err != nil {
				b.Fatal(err)
			}
			insts += len(all)
		}
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "insts/s")
}
