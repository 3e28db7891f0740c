package disasm

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lengths are the possible lengths of instructions in bytes: all that an instruction set has, and the shortest.
var lengths = map[Arch]struct {
	all      string // as "2 4 6"; "" is 1 to 15
	shortest int
}{
	AMD64:   {"", 1},
	ARM64:   {"4", 4},
	PPC64LE: {"4 8", 4},
	RISCV64: {"2 4", 2},
	S390X:   {"2 4 6", 2},
	Loong64: {"4", 4},
}

// checkInvariants decodes code in both syntaxes. It fails unless the instructions cover the code.
func checkInvariants(t *testing.T, arch Arch, code []byte, pc uint64) {
	t.Helper()
	var lens [2][]Inst
	for _, syntax := range []Syntax{ATT, Intel} {
		insts, err := Decode(arch, syntax, code, pc)
		if err != nil {
			t.Fatal(err)
		}
		at := pc
		for _, in := range insts {
			checkInst(t, arch, in, code, in.Addr-pc)
			if in.Addr != at {
				t.Fatalf("%s: % x: %+v: want address %#x", arch, code, in, at)
			}
			at += uint64(in.Len)
		}
		if at-pc != uint64(len(code)) {
			t.Fatalf("%s: % x: %d bytes decoded, want %d", arch, code, at-pc, len(code))
		}
		lens[syntax] = insts
		if arch != AMD64 {
			return // there is only one syntax
		}
	}
	for i, in := range lens[ATT] {
		other := lens[Intel][i]
		if in.Len != other.Len || in.Kind != other.Kind || in.Target != other.Target || in.Bad != other.Bad {
			t.Fatalf("% x: %+v in one syntax, %+v in the other", code, in, other)
		}
	}
}

func checkInst(t *testing.T, arch Arch, in Inst, code []byte, off uint64) {
	t.Helper()
	fail := func(what string) {
		t.Helper()
		t.Fatalf("%s: % x: %+v: %s", arch, code[off:], in, what)
	}
	want := lengths[arch]
	switch {
	case in.Len < 1 || in.Len > 15:
		fail("length")
	case !in.Bad && want.all != "" && !slices.Contains(strings.Fields(want.all), strconv.Itoa(in.Len)):
		fail("length")
	case in.Text == "" || strings.TrimSpace(in.Text) != in.Text || strings.ContainsAny(in.Text, "\n\t\x00"):
		fail("text")
	case in.Bad && in.Kind != Plain:
		fail("undecodable")
	case in.Bad && !strings.HasPrefix(in.Text, ".byte 0x") && !strings.HasPrefix(in.Text, ".inst  0x"):
		fail("undecodable")
	case in.Bad && in.Len != want.shortest && (in.Len != 1 || len(code[off:]) >= want.shortest):
		fail("undecodable")
	case in.Target != 0 && (in.Kind == Plain || in.Kind == Return):
		fail("target")
	case strings.Contains(in.Text, "Op("), strings.Contains(in.Text, ",,"), strings.HasSuffix(in.Text, ","),
		strings.Contains(in.Text, "%!"), strings.Contains(in.Text, "unknown"):
		fail("spelling")
	}
}

// FuzzDecode takes the instruction set as a number, so that all sets share one corpus.
func FuzzDecode(f *testing.F) {
	arches := slices.Sorted(maps.Keys(decoders))
	for name, blobs := range fixtures(f) {
		set := slices.Index(arches, archOf(name))
		for i := 0; i < len(blobs); i += 16 {
			code := blobs[i].code
			f.Add(byte(set), code[:min(len(code), 256)], blobs[i].pc)
		}
	}
	f.Add(byte(slices.Index(arches, AMD64)), []byte{evex, 0xf1, 0x7c, 0x48, 0x58, 0xc0}, uint64(0))
	for _, arch := range otherArches {
		for _, in := range otherSet(f, arch) {
			f.Add(byte(slices.Index(arches, arch)), in.code, in.pc)
		}
	}
	only := slices.Index(arches, Arch(os.Getenv("GASM_FUZZ_ARCH"))) // to fuzz only one of them
	f.Fuzz(func(t *testing.T, set byte, code []byte, pc uint64) {
		if only >= 0 {
			set = byte(only)
		}
		checkInvariants(t, arches[int(set)%len(arches)], code, pc)
	})
}

// TestRandomBytes decodes bytes that are not code. Most of them come after bytes that lead deep into the decoder.
func TestRandomBytes(t *testing.T) {
	starts := map[Arch][][]byte{
		AMD64: {
			{}, {vex2}, {vex3}, {evex}, {evex, 0xf1, 0x7d, 0x48}, {evex, 0xf5, 0x7d, 0x48}, {0x0f}, {0x66, 0x0f, 0x38},
			{0xf2, 0x48, 0x0f, 0x3a}, {0xd9}, {0x67},
		},
		S390X: {{}, {0xe7}, {0xe7, 0, 0, 0, 0}, {0xb9}, {0xb3}, {0xec}, {0xed}, {0xe3}, {0xe5}},
	}
	for arch := range decoders {
		random := rand.New(rand.NewPCG(1, 2))
		first := starts[arch]
		if first == nil {
			first = [][]byte{{}}
		}
		n := 20_000
		if arch != AMD64 {
			n = 2_000
		}
		for i := range n {
			code := append([]byte(nil), first[i%len(first)]...)
			for len(code) < 24-i%3 {
				code = append(code, byte(random.Uint32()))
			}
			checkInvariants(t, arch, code, 0x7f0523ef2180)
		}
	}
}

// BenchmarkDecode decodes the machine code in one HotSpot log.
func BenchmarkDecode(b *testing.B) {
	all := fixtures(b)
	for _, name := range []string{"jdk25-lean-none", "jdk21-arm64-lean-none"} {
		arch := archOf(name)
		b.Run(string(arch), func(b *testing.B) { benchmarkDecode(b, arch, all[name]) })
	}
}

func benchmarkDecode(b *testing.B, arch Arch, blobs []blob) {
	bytes, insts := 0, 0
	for _, blob := range blobs {
		bytes += len(blob.code)
	}
	if bytes == 0 {
		b.Fatal("nothing to decode")
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		for _, blob := range blobs {
			all, err := Decode(arch, ATT, blob.code, blob.pc)
			if err != nil {
				b.Fatal(err)
			}
			insts += len(all)
		}
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "insts/s")
}
