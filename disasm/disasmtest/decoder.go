// Package disasmtest contains what the tests of the decoders share:
//
//   - checks that hold for any bytes (Decoder.Check), for fuzz tests and random bytes
//   - HotSpot's machine code (Blobs), from the testdata of a package or from any log
//   - a comparison with GNU objdump (Objdump, Decoder.Parity)
//
// The README in each testdata says how its files were made.
package disasmtest

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/asm"
)

// A Decoder is a decoder to test, and the facts about its instruction set that the tests need.
type Decoder struct {
	Decode   func(syntax asm.Syntax, code []byte, pc uint64) []asm.Inst
	Syntaxes []asm.Syntax // the ways to write an instruction; they differ in the texts only
	Lengths  []int        // the lengths that instructions can have, in bytes; nil means 1 to 15
	Shortest int          // the length of the shortest instruction
}

// Check decodes code in all syntaxes. The instructions must cover the code without gaps, and only their texts may
// differ between the syntaxes. Otherwise the test fails.
func (d Decoder) Check(t *testing.T, code []byte, pc uint64) {
	t.Helper()
	var first []asm.Inst
	for i, syntax := range d.Syntaxes {
		insts := d.Decode(syntax, code, pc)
		at := pc
		for _, in := range insts {
			d.checkInst(t, in, code, in.Addr-pc)
			if in.Addr != at {
				t.Fatalf("% x: %+v: want address %#x", code, in, at)
			}
			at += uint64(in.Len)
		}
		if at-pc != uint64(len(code)) {
			t.Fatalf("% x: %d bytes decoded, want %d", code, at-pc, len(code))
		}
		if i == 0 {
			first = insts
		}
		for i, in := range first {
			other := insts[i]
			if in.Len != other.Len || in.Kind != other.Kind || in.Target != other.Target || in.Bad != other.Bad {
				t.Fatalf("% x: %+v in one syntax, %+v in the other", code, in, other)
			}
		}
	}
}

func (d Decoder) checkInst(t *testing.T, in asm.Inst, code []byte, off uint64) {
	t.Helper()
	fail := func(what string) {
		t.Helper()
		t.Fatalf("% x: %+v: %s", code[off:], in, what)
	}
	switch {
	case in.Len < 1 || in.Len > 15:
		fail("length")
	case !in.Bad && d.Lengths != nil && !slices.Contains(d.Lengths, in.Len):
		fail("length")
	case in.Text == "" || strings.TrimSpace(in.Text) != in.Text || strings.ContainsAny(in.Text, "\n\t\x00"):
		fail("text")
	case in.Bad && in.Kind != asm.Plain:
		fail("undecodable")
	case in.Bad && !strings.HasPrefix(in.Text, ".byte 0x") && !strings.HasPrefix(in.Text, ".inst  0x"):
		fail("undecodable")
	case in.Bad && in.Len != d.Shortest && (in.Len != 1 || len(code[off:]) >= d.Shortest):
		fail("undecodable")
	case in.Target != 0 && (in.Kind == asm.Plain || in.Kind == asm.Return):
		fail("target")
	case strings.Contains(in.Text, "Op("), strings.Contains(in.Text, ",,"), strings.HasSuffix(in.Text, ","),
		strings.Contains(in.Text, "%!"), strings.Contains(in.Text, "unknown"):
		fail("spelling")
	}
}

// CheckRandom checks n pieces of code. Each piece starts with the next of the given byte sequences and goes on with
// random bytes. Choose sequences that lead deep into the decoder.
func (d Decoder) CheckRandom(t *testing.T, n int, starts ...[]byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		code := append([]byte(nil), starts[i%len(starts)]...)
		for len(code) < 24-i%3 {
			code = append(code, byte(random.Uint32()))
		}
		d.Check(t, code, 0x7f0523ef2180)
	}
}

// Benchmark decodes blobs in the first syntax.
func (d Decoder) Benchmark(b *testing.B, blobs []Blob) {
	bytes, insts := 0, 0
	for _, blob := range blobs {
		bytes += len(blob.Code)
	}
	if bytes == 0 {
		b.Fatal("nothing to decode")
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		for _, blob := range blobs {
			insts += len(d.Decode(d.Syntaxes[0], blob.Code, blob.PC))
		}
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "insts/s")
}

// Unhex converts hexadecimal digits to bytes. The test fails if the digits are invalid.
func Unhex(t testing.TB, digits string) []byte {
	t.Helper()
	code, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// Join returns the texts of several instructions, separated by semicolons.
func Join(insts []asm.Inst) string {
	var texts []string
	for _, in := range insts {
		texts = append(texts, in.Text)
	}
	return strings.Join(texts, "; ")
}

// Squeeze returns a text with each run of white space replaced with a single blank.
func Squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
